// SPDX-License-Identifier: Apache-2.0
#include "bind/rl/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/rl/group.hpp"
#include "rl/native/policy.hpp"
#include "rl/native/rollout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

using native::Activation;

/// Products that are worth giving the interpreter to other threads.
constexpr std::size_t kDetachedProducts = 100'000;

/// Returns the memory of an array of float32 numbers; null if it is anything else.
auto floats(nb::handle object, int dimensions) -> const float* {
  if (!is_array(object)) return nullptr;
  auto* const array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if ((PyArray_FLAGS(array) & NPY_ARRAY_CARRAY_RO) != NPY_ARRAY_CARRAY_RO ||
      PyArray_DESCR(array)->type_num != NPY_FLOAT ||
      PyArray_DESCR(array)->byteorder == '>' || PyArray_NDIM(array) != dimensions) {
    return nullptr;
  }
  return static_cast<const float*>(PyArray_DATA(array));
}

auto length(nb::handle array, int dimension) -> std::size_t {
  return static_cast<std::size_t>(
      PyArray_DIMS(reinterpret_cast<PyArrayObject*>(array.ptr()))[dimension]);
}

/// Adds layers, dicts with weights `w` and bias `b`; false if they have another form.
/// Arrays are kept alive in `kept`.
auto add_layers(native::Mlp& network, const nb::list& layers, Activation hidden,
                Activation last, nb::list& kept) -> bool {
  const std::size_t count = nb::len(layers);
  std::size_t inputs = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const nb::handle layer = layers[k];
    if (!PyDict_Check(layer.ptr())) return false;
    const nb::handle w = PyDict_GetItemString(layer.ptr(), "w");
    const nb::handle b = PyDict_GetItemString(layer.ptr(), "b");
    if (!w.is_valid() || !b.is_valid()) return false;
    const float* const weights = floats(w, 2);
    const float* const bias = floats(b, 1);
    if (weights == nullptr || bias == nullptr || length(b, 0) != length(w, 1) ||
        length(w, 0) == 0 || length(w, 1) == 0 || (k > 0 && length(w, 0) != inputs)) {
      return false;
    }
    network.add(weights, bias, length(w, 0), length(w, 1), k + 1 < count ? hidden : last);
    inputs = length(w, 1);
    kept.append(w);
    kept.append(b);
  }
  return count > 0;
}

auto activation(const std::string& name) -> Activation {
  if (name == "tanh") return Activation::kTanh;
  if (name == "relu") return Activation::kRelu;
  if (name == "none") return Activation::kNone;
  throw std::invalid_argument("there is no native activation " + name);
}

/// Applies layers to rows; false if these are not arrays of float32 numbers that fit.
auto apply_layers(const nb::list& layers, nb::handle rows, nb::handle out,
                  const std::string& hidden, const std::string& last) -> bool {
  native::Mlp network;
  nb::list kept;
  if (!add_layers(network, layers, activation(hidden), activation(last), kept)) {
    return false;
  }
  const float* const in = floats(rows, 2);
  if (in == nullptr || length(rows, 1) != network.inputs()) return false;
  const std::size_t count = length(rows, 0);
  auto* const to = memory<float>(out, NPY_FLOAT, count * network.outputs());
  static const native::Apply kApply = native::fastest_apply();
  if (count * network.products() < kDetachedProducts) {
    network.apply(in, count, to, kApply);
  } else {
    const nb::gil_scoped_release detached;
    network.apply(in, count, to, kApply);
  }
  return true;
}

/// Memory of an array for results, or null for None.
template <typename T>
auto wanted(nb::handle array, NPY_TYPES type, std::size_t size) -> T* {
  return array.is_none() ? nullptr : memory<T>(array, type, size);
}

/// A policy, with the arrays that it uses.
class NativePolicy {
 public:
  NativePolicy(const nb::list& layers, const std::string& hidden, const std::string& kind,
               const std::vector<std::int64_t>& values,
               const std::vector<std::int32_t>& sources, const std::vector<float>& mean,
               const std::vector<float>& scale, const std::vector<float>& log_std,
               const std::vector<std::vector<float>>& bounds, double epsilon) {
    if (!add_layers(policy.network, layers, activation(hidden), Activation::kNone,
                    kept_)) {
      throw std::invalid_argument("layers must be dicts of float32 arrays that fit");
    }
    policy.inputs.values = values, policy.inputs.sources = sources;
    policy.inputs.mean = mean, policy.inputs.scale = scale;
    native::Distribution& distribution = policy.distribution;
    distribution.epsilon = epsilon;
    const std::size_t inputs = policy.network.inputs();
    const std::size_t outputs = policy.network.outputs();
    bool fits = mean.size() == scale.size() && (mean.empty() || mean.size() == inputs) &&
                (values.empty() || values.size() == inputs) &&
                (sources.empty() || sources.size() == inputs);
    if (kind == "categorical") {
      distribution.kind = native::Kind::kCategorical;
    } else if (kind == "epsilon-greedy") {
      distribution.kind = native::Kind::kEpsilonGreedy;
    } else if (kind == "normal") {
      distribution.kind = native::Kind::kNormal;
      distribution.log_std = log_std;
      fits = fits && log_std.size() == outputs && bounds.size() == 4 &&
             std::ranges::all_of(
                 bounds, [outputs](const auto& each) { return each.size() == outputs; });
      if (fits) {
        distribution.low = bounds[0], distribution.high = bounds[1];
        distribution.middle = bounds[2], distribution.half = bounds[3];
      }
    } else {
      throw std::invalid_argument("there is no native policy of the kind " + kind);
    }
    if (!fits) throw std::invalid_argument("the parts of a policy do not fit");
  }

  /// Acts on rows of inputs; None for what is not wanted or not given.
  void act(nb::handle rows, nb::handle noise, nb::handle masks, nb::handle indices,
           nb::handle numbers, nb::handle actions, nb::handle log_probs) {
    const float* const in = floats(rows, 2);
    if (in == nullptr || length(rows, 1) != policy.network.inputs()) {
      throw std::invalid_argument("inputs must be rows of float32 numbers that fit");
    }
    const std::size_t count = length(rows, 0);
    const std::size_t outputs = policy.network.outputs();
    native::Choices to;
    to.indices = wanted<std::int64_t>(indices, NPY_INT64, count);
    to.numbers = wanted<float>(numbers, NPY_FLOAT, count * outputs);
    to.actions = wanted<float>(actions, NPY_FLOAT, count * outputs);
    to.log_probs = wanted<float>(log_probs, NPY_FLOAT, count);
    check(to);
    const auto* const allowed =
        masks.is_none() ? nullptr
                        : readable<std::uint8_t>(masks, NPY_BOOL, count * outputs);
    const void* const drawn = noise_of(noise, count);
    if (count * policy.network.products() < kDetachedProducts) {
      policy.act(in, count, drawn, allowed, to);
    } else {
      const nb::gil_scoped_release detached;
      policy.act(in, count, drawn, allowed, to);
    }
  }

  /// Noise for so many rows; null for None.
  [[nodiscard]] auto noise_of(nb::handle noise, std::size_t count) const -> const void* {
    if (noise.is_none()) return nullptr;
    const std::size_t outputs = policy.network.outputs();
    switch (policy.distribution.kind) {
      case native::Kind::kCategorical:
        return readable<double>(noise, NPY_DOUBLE, count * outputs);
      case native::Kind::kNormal:
        return readable<float>(noise, NPY_FLOAT, count * outputs);
      case native::Kind::kEpsilonGreedy: break;
    }
    return readable<double>(noise, NPY_DOUBLE, count);
  }

  /// Checks that there is an array for what every choice writes.
  void check(const native::Choices& to) const {
    const bool normal = policy.distribution.kind == native::Kind::kNormal;
    if (normal ? to.actions == nullptr : to.indices == nullptr) {
      throw std::invalid_argument("an array for the choices of a policy is missing");
    }
  }

  native::Policy policy;

 private:
  nb::list kept_;
};

/// The environments of a group, and a policy that acts in them.
class NativeStepping {
 public:
  NativeStepping(Group& group, NativePolicy& policy, std::size_t width, std::size_t parts,
                 nb::object masks)
      : policy_(policy),
        count_(group.bodies().episodes.size()),
        encoding_{width, parts},
        masks_(std::move(masks)),
        stepping_(group.bodies(), group.row(), policy.policy, encoding_,
                  table(masks_, policy)) {
    const std::size_t inputs = policy.policy.network.inputs();
    const native::Inputs& read = policy.policy.inputs;
    const bool fits =
        width != 0
            ? read.values.empty() && inputs == width
            : parts >= 1 && parts <= 3 && !read.values.empty() &&
                  (parts == 1 ? read.sources.empty() : read.sources.size() == inputs) &&
                  std::ranges::all_of(read.sources, [parts](std::int32_t source) {
                    return source >= 0 && static_cast<std::size_t>(source) < parts;
                  });
    const bool numbers = policy.policy.distribution.kind == native::Kind::kNormal;
    if (!fits || group.bodies().acts_with_floats() != numbers ||
        (numbers && policy.policy.network.outputs() != 1) ||
        (!masks_.is_none() && (width != 0 || parts != 1))) {
      throw std::invalid_argument("a policy and environments do not fit");
    }
  }

  /// Collects steps; returns the next one and the episodes that ended.
  auto collect(std::size_t from, std::size_t until, nb::handle noise, const nb::dict& to,
               nb::handle returns, nb::handle lengths)
      -> std::pair<std::size_t, std::vector<std::pair<double, std::int64_t>>> {
    const std::size_t places = nb::len(nb::handle(to["rewards"])) * count_;
    if (from > until || until * count_ > places) {
      throw std::invalid_argument("there are too few rows");
    }
    const native::Policy& policy = policy_.policy;
    const std::size_t outputs = policy.network.outputs();
    native::TrajectoryColumns columns;
    columns.observations = encoded(to["observations"], places);
    columns.next_observations = encoded(to["next_observations"], places);
    columns.rewards = memory<double>(to["rewards"], NPY_DOUBLE, places);
    columns.terminations = memory<std::uint8_t>(to["terminations"], NPY_BOOL, places);
    columns.truncations = memory<std::uint8_t>(to["truncations"], NPY_BOOL, places);
    if (!masks_.is_none()) {
      columns.masks =
          memory<std::uint8_t>(to["action_masks"], NPY_BOOL, places * outputs);
      columns.next_masks =
          memory<std::uint8_t>(to["next_action_masks"], NPY_BOOL, places * outputs);
    }
    native::Choices& choices = columns.choices;
    if (policy.distribution.kind == native::Kind::kNormal) {
      choices.actions = memory<float>(to["actions"], NPY_FLOAT, places * outputs);
      choices.numbers = memory<float>(to["choices"], NPY_FLOAT, places * outputs);
    } else {
      choices.indices = memory<std::int64_t>(to["actions"], NPY_INT64, places);
    }
    if (to.contains("log_probs")) {
      choices.log_probs = memory<float>(to["log_probs"], NPY_FLOAT, places);
    }
    const void* const drawn = policy_.noise_of(noise, places);
    if (drawn == nullptr) throw std::invalid_argument("noise is missing");
    const native::Sums sums = sums_of(returns, lengths);
    std::vector<native::EndedEpisode> ended;
    std::size_t next = 0;
    {
      const nb::gil_scoped_release detached;
      next = stepping_.collect(columns, drawn, from, until, sums, ended);
    }
    std::vector<std::pair<double, std::int64_t>> episodes;
    episodes.reserve(ended.size());
    for (const auto& each : ended) {
      episodes.emplace_back(each.episode_return, each.length);
    }
    return {next, std::move(episodes)};
  }

  /// Does greedy steps; returns their number, and whether the last one has to be
  /// finished.
  auto play(const std::vector<std::size_t>& active, std::size_t limit, nb::handle returns,
            nb::handle lengths, std::int64_t longest, nb::handle actions)
      -> std::pair<std::size_t, bool> {
    for (const std::size_t at : active) {
      if (at >= count_) throw std::out_of_range("no such environment");
    }
    const native::Sums sums = sums_of(returns, lengths);
    native::Choices to;
    if (policy_.policy.distribution.kind == native::Kind::kNormal) {
      to.actions = memory<float>(actions, NPY_FLOAT, active.size());
    } else {
      to.indices = memory<std::int64_t>(actions, NPY_INT64, active.size());
    }
    const nb::gil_scoped_release detached;
    return stepping_.play(active, limit, sums, longest, to);
  }

 private:
  static auto table(nb::handle masks, const NativePolicy& policy) -> native::MaskTable {
    if (masks.is_none()) return {};
    const std::size_t actions = policy.policy.network.outputs();
    const std::size_t states = nb::len(masks);
    return {readable<std::uint8_t>(masks, NPY_BOOL, states * actions), actions};
  }

  [[nodiscard]] auto encoded(nb::handle array, std::size_t places) const -> void* {
    if (encoding_.width != 0) {
      return memory<float>(array, NPY_FLOAT, places * encoding_.width);
    }
    return memory<std::int32_t>(array, NPY_INT32, places * encoding_.parts);
  }

  [[nodiscard]] auto sums_of(nb::handle returns, nb::handle lengths) const
      -> native::Sums {
    return {memory<double>(returns, NPY_DOUBLE, count_),
            memory<std::int64_t>(lengths, NPY_INT64, count_)};
  }

  NativePolicy& policy_;
  std::size_t count_;
  native::Encoding encoding_;
  nb::object masks_;
  native::Stepping stepping_;
};

}  // namespace

void bind_policies(nb::module_& m) {
  m.def("apply_layers", &apply_layers, "layers"_a, "rows"_a, "out"_a, "hidden"_a,
        "last"_a,
        nb::sig("def apply_layers(layers: list[dict[str, object]], rows: object, "
                "out: object, hidden: str, last: str) -> bool"),
        "Write the outputs of layers for rows; False if these are not arrays of float32 "
        "numbers that fit.");

  nb::class_<NativePolicy>(m, "Policy", "A network, and a distribution over actions.")
      .def(nb::init<const nb::list&, const std::string&, const std::string&,
                    const std::vector<std::int64_t>&, const std::vector<std::int32_t>&,
                    const std::vector<float>&, const std::vector<float>&,
                    const std::vector<float>&, const std::vector<std::vector<float>>&,
                    double>(),
           nb::kw_only(), "layers"_a, "hidden"_a, "kind"_a, "values"_a, "sources"_a,
           "mean"_a, "scale"_a, "log_std"_a, "bounds"_a, "epsilon"_a,
           nb::sig("def __init__(self, *, layers: list[dict[str, object]], hidden: str, "
                   "kind: str, values: Sequence[int], sources: Sequence[int], "
                   "mean: Sequence[float], scale: Sequence[float], "
                   "log_std: Sequence[float], bounds: Sequence[Sequence[float]], "
                   "epsilon: float) -> None"))
      .def("act", &NativePolicy::act, "rows"_a, nb::kw_only(), "noise"_a.none(),
           "masks"_a.none(), "indices"_a.none(), "numbers"_a.none(), "actions"_a.none(),
           "log_probs"_a.none(),
           nb::sig("def act(self, rows: object, *, noise: object | None, "
                   "masks: object | None, indices: object | None, "
                   "numbers: object | None, actions: object | None, "
                   "log_probs: object | None) -> None"),
           "Act on rows of inputs, and write what is wanted into arrays; without noise "
           "greedily.");

  nb::class_<NativeStepping>(m, "Stepping", "Environments, and a policy acting in them.")
      .def(nb::init<Group&, NativePolicy&, std::size_t, std::size_t, nb::object>(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), "group"_a, "policy"_a,
           "width"_a, "parts"_a, "masks"_a.none(),
           nb::sig("def __init__(self, group: Group, policy: Policy, width: int, "
                   "parts: int, masks: object | None) -> None"))
      .def("collect", &NativeStepping::collect, "start"_a, "stop"_a, "noise"_a,
           "columns"_a, "returns"_a, "lengths"_a,
           nb::sig("def collect(self, start: int, stop: int, noise: object, "
                   "columns: dict[str, object], returns: object, lengths: object) -> "
                   "tuple[int, list[tuple[float, int]]]"),
           "Collect steps. Return the next one, and return and length of episodes that "
           "ended; a step below `stop` has to be finished in Python.")
      .def("play", &NativeStepping::play, "active"_a, "limit"_a, "returns"_a, "lengths"_a,
           "longest"_a, "actions"_a,
           nb::sig("def play(self, active: Sequence[int], limit: int, returns: object, "
                   "lengths: object, longest: int, actions: object) -> tuple[int, bool]"),
           "Do greedy steps in some environments until an episode ends. Return their "
           "number, and whether the last one, with these actions, has to be finished in "
           "Python.");
}

}  // namespace reactorl::bind

// SPDX-License-Identifier: Apache-2.0
// The module `_bodies`: environments in native code.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/rl/group.hpp"
#include "bind/rl/policy.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace reactorl::bind {
namespace {

auto make_table(std::int64_t actions, const std::vector<std::size_t>& starts,
                const std::vector<double>& cumulative, const std::vector<double>& rewards,
                const std::vector<std::int64_t>& next, const std::vector<bool>& ends,
                std::vector<double> initial, bool is_taxi, bool is_fickle,
                double fickle_probability) -> std::shared_ptr<Table> {
  auto table = std::make_shared<Table>();
  const auto states = static_cast<std::int64_t>(initial.size());
  if (actions < 1 ||
      starts.size() != initial.size() * static_cast<std::size_t>(actions) + 1 ||
      starts.front() != 0 || starts.back() != cumulative.size() ||
      rewards.size() != cumulative.size() || next.size() != cumulative.size() ||
      ends.size() != cumulative.size() || (is_taxi && states % 20 != 0)) {
    throw std::invalid_argument("the parts of a table do not fit");
  }
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    if (starts[i] >= starts[i + 1])
      throw std::invalid_argument("a state has no next one");
  }
  for (std::size_t k = 0; k < cumulative.size(); ++k) {
    if (next[k] < 0 || next[k] >= states) throw std::invalid_argument("no such state");
    table->transitions.push_back({cumulative[k], rewards[k], next[k], ends[k]});
  }
  table->actions = actions;
  table->starts = starts;
  table->initial = std::move(initial);
  table->is_taxi = is_taxi;
  table->is_fickle = is_fickle;
  table->fickle_probability = fickle_probability;
  return table;
}

}  // namespace
}  // namespace reactorl::bind

NB_MODULE(_bodies, m) {
  using namespace reactorl::bind;
  namespace native = reactorl::native;

  m.doc() = "Environments in native code. Use `reactorl.rl.envs.native.shard`.";
  m.attr("STEPPED") = static_cast<int>(native::kStepped);
  m.attr("RESET") = static_cast<int>(native::kReset);
  m.attr("ENDED") = static_cast<int>(native::kEnded);
  m.attr("ENDED_LEFT") = static_cast<int>(native::kEndedLeft);
  m.attr("LEFT") = static_cast<int>(native::kLeft);

  nb::class_<Table>(m, "Table", "The transitions of a tabular environment.")
      .def(nb::new_(&make_table), nb::kw_only(), "actions"_a, "starts"_a, "cumulative"_a,
           "rewards"_a, "next"_a, "ends"_a, "initial"_a, "is_taxi"_a, "is_fickle"_a,
           "fickle_probability"_a);

  nb::class_<Group>(m, "Group", "Native bodies of some environments of one kind.")
      .def(nb::init<const std::string&, std::size_t, int, std::shared_ptr<Table>>(),
           "kind"_a, "count"_a, "autoreset"_a, "table"_a.none())
      .def("assign", &Group::assign, nb::kw_only(), "observations"_a, "rewards"_a,
           "terminations"_a, "truncations"_a, "last"_a, "status"_a, "transitions"_a,
           "row"_a,
           nb::sig("def assign(self, *, observations: tuple[object, ...], "
                   "rewards: object, terminations: object, truncations: object, "
                   "last: tuple[object, ...], status: object, transitions: object, "
                   "row: int) -> None"),
           "Write results into these arrays, from this row on.")
      .def("adopt", &Group::adopt, "at"_a, "generator"_a, nb::kw_only(), "numbers"_a,
           "elapsed"_a, "limit"_a, "has_ended"_a, "steps"_a,
           "Take the state of an environment over; False: another one has its generator.")
      .def("release", &Group::release, "at"_a,
           "Return numbers, elapsed steps, whether the episode has ended, and the number "
           "of steps; the state is no longer here.")
      .def("fits", &Group::fits, "actions"_a, "first_action"_a,
           "Whether actions have the form that bodies take.")
      .def("step", &Group::step, "actions"_a, "first_action"_a,
           nb::sig("def step(self, actions: object, first_action: int) -> "
                   "tuple[int, int] | None"),
           "Step all. Return how many steps are left to Python and how many episodes "
           "ended; None if the actions have another form.")
      .def("step_one", &Group::step_one, "at"_a, "action"_a,
           "Step one; False if its action has another form.")
      .def("is_live", &Group::is_live, "at"_a, "Whether its state is here.");

  bind_policies(m);

  // For the self-check: what native code computes, to compare with Python and NumPy.
  m.def("sine", [](double x) { return std::sin(x); });
  m.def("cosine", [](double x) { return std::cos(x); });
  m.def("squared", [](double x) { return native::squared(x); });
  m.def("squared_float", [](double x) {
    return static_cast<double>(native::squared(static_cast<float>(x)));
  });
  m.def("floor_mod", [](double x, double y) { return native::floor_mod(x, y); });
  m.def("as_float", [](double x) { return static_cast<double>(static_cast<float>(x)); });
  m.def(
      "product_sum", [](double x, double y, double z) { return x * y + z; },
      "x * y + z, rounded twice.");
  m.def("product_sum_float", [](double x, double y, double z) {
    const float product = static_cast<float>(x) * static_cast<float>(y);
    return static_cast<double>(product + static_cast<float>(z));
  });
  m.def("draw_random",
        [](nb::handle generator) { return bit_generator(generator)->random(); });
  m.def("draw_uniform", [](nb::handle generator, double low, double high) {
    return bit_generator(generator)->uniform(low, high);
  });
  m.def("draw_below", [](nb::handle generator, std::uint32_t count) {
    return bit_generator(generator)->below(count);
  });
}

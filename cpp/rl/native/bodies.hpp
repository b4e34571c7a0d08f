// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "bit_generator.hpp"
#include "body.hpp"
#include "tabular.hpp"

namespace reactorl::native {

/// When an environment is reset after the end of an episode; Gymnasium's autoreset modes.
enum class Autoreset : std::uint8_t { kNextStep, kSameStep, kDisabled };

/// What became of an environment in a step.
enum Status : std::uint8_t {
  kStepped = 0,
  kReset = 1,      // reset instead of a step
  kEnded = 2,      // the episode ended, and the next one began in the same step
  kEndedLeft = 3,  // the episode ended; the reset is left to Python
  kLeft = 4,       // nothing was done: the step is left to Python
};

/// Where the results of a step are written. A row belongs to one environment.
struct Results {
  Columns observations;
  double* rewards = nullptr;
  std::uint8_t* terminations = nullptr;
  std::uint8_t* truncations = nullptr;
  Columns last;  // the last observations of episodes that ended in a step (`kEnded`)
  std::uint8_t* status = nullptr;
  std::int32_t* transitions = nullptr;  // of tabular environments
};

/// What every body has, whichever environment it is.
struct Episode {
  bool is_live = false;  // whether the state is here, and not in the Python environment
  bool has_ended = false;
  std::int64_t elapsed = 0;
  std::int64_t limit = 0;  // of the wrapper TimeLimit; 0: none
  std::uint64_t steps = 0;
  BitGenerator* random = nullptr;
};

/// How many environments of a step need work in Python.
struct Rest {
  std::size_t left = 0;
  std::size_t ended = 0;
};

/// The bodies of some environments of one kind.
///
/// Thread safety: one thread at a time. `step` needs no interpreter.
class Bodies {
 public:
  explicit Bodies(std::size_t count, Autoreset autoreset)
      : episodes(count), autoreset_(autoreset) {}
  virtual ~Bodies() = default;
  Bodies(const Bodies&) = delete;
  auto operator=(const Bodies&) -> Bodies& = delete;

  [[nodiscard]] virtual auto numbers() const -> std::size_t = 0;
  [[nodiscard]] virtual auto nanoseconds() const -> std::size_t = 0;
  [[nodiscard]] virtual auto acts_with_floats() const -> bool = 0;
  virtual void put(std::size_t at, const double* numbers) = 0;
  virtual void get(std::size_t at, double* numbers) const = 0;
  /// Steps environments; `actions` has one for each, the first for `first`. The row of an
  /// environment is `row` plus its place.
  virtual auto step(const void* actions, std::size_t first, std::size_t end,
                    std::size_t row) -> Rest = 0;

  Results results;
  std::vector<Episode> episodes;

 protected:
  Autoreset autoreset_;
};

template <typename Body>
class BodiesOf final : public Bodies {
 public:
  BodiesOf(std::size_t count, Autoreset autoreset, std::shared_ptr<const Table> table)
      : Bodies(count, autoreset), bodies_(count), table_(std::move(table)) {
    if constexpr (std::is_same_v<Body, Tabular>) {
      for (Body& body : bodies_) body.table = table_.get();
    }
  }

  [[nodiscard]] auto numbers() const -> std::size_t override { return Body::kNumbers; }
  [[nodiscard]] auto nanoseconds() const -> std::size_t override {
    return Body::kNanoseconds;
  }
  [[nodiscard]] auto acts_with_floats() const -> bool override {
    return std::is_same_v<typename Body::Action, float>;
  }
  void put(std::size_t at, const double* numbers) override { bodies_[at].put(numbers); }
  void get(std::size_t at, double* numbers) const override { bodies_[at].get(numbers); }

  auto step(const void* actions, std::size_t first, std::size_t end, std::size_t row)
      -> Rest override {
    const auto* const each = static_cast<const typename Body::Action*>(actions);
    Rest rest;
    for (std::size_t at = first; at < end; ++at) {
      const Status status = step_one(each[at - first], at, row + at);
      results.status[at] = status;
      rest.left += static_cast<std::size_t>(status >= kEndedLeft);
      rest.ended += static_cast<std::size_t>(status == kEnded);
    }
    return rest;
  }

 private:
  auto step_one(typename Body::Action action, std::size_t at, std::size_t row) -> Status {
    Episode& episode = episodes[at];
    Body& body = bodies_[at];
    if (!episode.is_live) return kLeft;
    if (episode.has_ended) {
      if (autoreset_ != Autoreset::kNextStep || !Body::kResets) return kLeft;
      begin(body, episode);
      body.observe(results.observations, row);
      results.rewards[row] = 0;
      results.terminations[row] = 0;
      results.truncations[row] = 0;
      return kReset;
    }
    Outcome outcome;
    if (!body.step(action, *episode.random, outcome)) return kLeft;
    ++episode.steps;
    ++episode.elapsed;
    const bool truncated = episode.limit != 0 && episode.elapsed >= episode.limit;
    results.rewards[row] = outcome.reward;
    results.terminations[row] = static_cast<std::uint8_t>(outcome.terminated);
    results.truncations[row] = static_cast<std::uint8_t>(truncated);
    if constexpr (std::is_same_v<Body, Tabular>) {
      results.transitions[at] = static_cast<std::int32_t>(body.transition);
    }
    if (!outcome.terminated && !truncated) {
      body.observe(results.observations, row);
      return kStepped;
    }
    episode.has_ended = true;
    if (autoreset_ != Autoreset::kSameStep) {
      body.observe(results.observations, row);
      return kStepped;
    }
    body.observe(results.last, at);
    if (!Body::kResets) return kEndedLeft;
    begin(body, episode);
    body.observe(results.observations, row);
    return kEnded;
  }

  static void begin(Body& body, Episode& episode) {
    body.reset(*episode.random);
    episode.has_ended = false;
    episode.elapsed = 0;
  }

  std::vector<Body> bodies_;
  std::shared_ptr<const Table> table_;
};

}  // namespace reactorl::native

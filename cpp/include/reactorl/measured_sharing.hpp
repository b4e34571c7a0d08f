// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "reactorl/ready_queue.hpp"
#include "reactorl/sharing.hpp"

namespace reactorl {

/// Measures how long the rest of a tag takes with helpers and without, for each shape of
/// what is queued, and does what was faster. Estimates nothing, and needs to know nothing
/// about interpreter locks, cores or caches: their effect is in the measurement.
///
/// The slower way is tried again now and then, within a budget: all tries together may
/// lose a fixed part of the time spent on their shape.
class MeasuredSharing final : public SharingPolicy {
 public:
  MeasuredSharing(const Plan& plan, TimeSource now);

  void begin_tag(Epoch tag) override;
  [[nodiscard]] auto helpers_for(ReactionId next, const ReadyQueue& ready,
                                 WorkerId spinning) -> WorkerId override;
  void phase_ended(const Phase& /*phase*/) override {}
  void end_tag() override;

 private:
  /// The tries of a shape may lose one part in so many of the time spent on it. With two
  /// percent, a run that cannot gain is hardly slower than on one worker.
  static constexpr Time kBudget = 50;
  /// Of the last so many measurements the median counts: one that waited for an import,
  /// or for another process, has no effect. Odd.
  static constexpr std::size_t kKept = 5;
  /// A tag is measured at least every so many times; the clock reads would cost a good
  /// part of short ones.
  static constexpr std::uint32_t kMeasureEvery = 8;
  /// The other way is tried at most every so many times, also if it costs nothing: to
  /// change between the two cools caches.
  static constexpr std::uint32_t kTryEvery = 16;
  /// What takes less is not shared: calling a helper takes as long.
  static constexpr Time kShortest = 5'000;
  /// Shapes differ by the power of two of the number of reactions, up to this one.
  static constexpr std::size_t kSizes = 12;

  /// Measurements of one way to run a shape.
  struct Arm {
    std::array<Time, kKept> last{};
    std::uint32_t count = 0;

    void add(Time spent) { last[count++ % kKept] = spent; }
    /// The median, the lower one of two; 0 if there is no measurement.
    [[nodiscard]] auto usual() const -> Time;
    [[nodiscard]] auto settled() const -> bool { return count >= kKept; }
  };
  /// Tags at which worker 0, alone, first meets about so many reactions at a level.
  struct Shape {
    Arm alone;
    Arm shared;
    Time spent = 0;  // about, in all
    Time lost = 0;   // by tries
    std::uint32_t visits = 0;
    std::uint32_t tried_at = 0;  // visit of the last try
  };
  /// A decision whose outcome is known at the end of the tag.
  struct Pending {
    Shape* shape;
    bool shares;
    bool is_try;
    Time began;
  };

  [[nodiscard]] auto shape_of(LevelId level, std::uint32_t reactions) -> Shape&;
  [[nodiscard]] static auto wants_try(const Shape& shape) -> bool;

  const Plan& plan_;
  TimeSource now_;
  std::vector<std::unique_ptr<std::array<Shape, kSizes>>> shapes_;  // per level
  LevelId considered_ = kNone;
  std::vector<Pending> pending_;
};

}  // namespace reactorl

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "reactorl/tag.hpp"

/// Every constant that decides how work is shared, with its reason. None of them changes
/// a result; a poor value costs time.
namespace reactorl::tuning {

inline constexpr Time kMicrosecond = 1'000;
inline constexpr Time kMillisecond = 1'000'000;

// ---- How threads wait -------------------------------------------------------------

/// A helper that has just worked spins this long for the next phase before it sleeps:
/// waking a sleeping thread costs a system call and tens of microseconds.
inline constexpr Time kSpinBetweenPhases = 100 * kMicrosecond;
/// Pauses between two looks at the clock while it spins.
inline constexpr int kSpinsPerClockRead = 64;
/// A worker without work looks this often inside the host before it leaves it.
inline constexpr int kLooksInside = 100;
/// The same with more workers than cores, where looking keeps a core from a worker that
/// has work.
inline constexpr int kLooksInsideCrowded = 4;
/// Pauses between two looks.
inline constexpr int kPausesPerLook = 8;
/// For so many looks it leaves reactions to the worker that they are at home with, whose
/// caches are warm.
inline constexpr int kPoliteLooks = 16;
/// It keeps looking this long outside the host before it sleeps: longer than most
/// reactions of a wide tag, since it waits for the last of them. Outside it does not
/// delay a stop-the-world pause of the interpreter.
inline constexpr Time kLookOutside = 300 * kMicrosecond;
/// Looks between two looks at the clock.
inline constexpr int kLooksPerClockRead = 16;
/// Worker 0 spins this often for helpers to leave before it sleeps.
inline constexpr int kSpinsForLast = 200;
/// A sleep never lasts longer, because worker 0 must look for signals such as Ctrl-C.
inline constexpr Time kLongestSleep = 50 * kMillisecond;
/// The first sleep of a federate that waits for others: what it waits for is said again
/// after it, and reported to the coordinator only then; see `Network.report`.
inline constexpr Time kFirstSleep = 1 * kMillisecond;
/// The same while it waits for helpers to leave a phase.
inline constexpr Time kLongestSleepForLast = 20 * kMillisecond;

// ---- What reactions cost (costs.hpp) ----------------------------------------------

/// The first runs are all timed, later ones sampled: two clock reads would cost a good
/// part of a short reaction.
inline constexpr std::uint64_t kRunsAllTimed = 8;
inline constexpr std::uint64_t kSampleEvery = 16;  // a power of two
/// Reactions that take longer are timed every time.
inline constexpr Time kAlwaysTimed = 20 * kMicrosecond;
/// Weight of a new run in the moving average: one in so many.
inline constexpr Time kAverageOver = 4;
/// A run that took so many times as long as usual waited for something. It must not be
/// remembered as the cost: sharing would seem to pay, and the cost would not be measured
/// again on one worker.
inline constexpr Time kOutlier = 4;
/// Costs below this are treated as this when outliers are found.
inline constexpr Time kLeastCost = 1 * kMicrosecond;

// ---- Which reactions begin first (urgency.hpp) ------------------------------------

/// Chains of reactions that take less are not ordered: order gains less than it costs.
inline constexpr Time kUrgentFrom = 500 * kMicrosecond;
/// At most so many urgent reactions are noted per tag.
inline constexpr std::size_t kMostUrgent = 64;
/// In larger programs computing ranks would take longer than it saves.
inline constexpr std::size_t kMostRanked = 4096;
/// Ranks are computed often at the first tags, then every so many tags.
inline constexpr std::uint64_t kRankEvery = 64;
/// A reaction that is not at home goes first if its rank is so many percent of the
/// highest rank at home.
inline constexpr Time kUrgentPercent = 125;

// ---- Whether to call for helpers (sharing_policy.hpp) ------------------------------

/// Work is shared if that saves this much. Calling a helper that spins costs a cache
/// miss, one that sleeps a system call. Behind an interpreter lock every hand-over also
/// costs a switch of threads, so only long work can gain.
inline constexpr Time kWorthSpinning = 5 * kMicrosecond;
inline constexpr Time kWorthAsleep = 15 * kMicrosecond;
inline constexpr Time kWorthLocked = 300 * kMicrosecond;
/// Calling helpers beside one long reaction needs a multiple of that: whether the other
/// queued reactions may run beside it is not known.
inline constexpr Time kWorthBeside = 4 * kWorthAsleep;
/// At most so many queued reactions are looked at.
inline constexpr std::uint32_t kMostConsidered = 256;
/// After n calls in vain beside a reaction the next 2^n chances are left out, n at most:
inline constexpr int kMostVain = 12;
/// A phase paid if it took at most 1 / 0.95 of the estimate on one worker.
inline constexpr double kPaid = 0.95;
/// Behind a lock, by how many processors were busy: threads that computed at the same
/// time must show a gain of 1.1, threads that waited outside 1.05, all others 1.5.
/// Estimates are uncertain where work varies, and a little more processor time may be
/// the cost of passing the lock.
inline constexpr double kBusyTogether = 1.4;
inline constexpr double kBusyWaiting = 0.7;
inline constexpr double kPaidTogether = 1.1;
inline constexpr double kPaidWaiting = 1.05;
inline constexpr double kPaidOtherwise = 1.5;
/// So many poor phases in a row are not noise.
inline constexpr std::uint32_t kNotNoise = 4;
/// A phase that took so many times the estimate imported or compiled something.
inline constexpr Time kNoMeasure = 10;
/// One tag in so many times the number of workers runs on one worker, to renew the
/// estimates: that takes as many times as long, so it costs less than a percent.
inline constexpr std::uint32_t kRenewEveryPerWorker = 128;
/// After poor phases sharing pauses for a multiple of the phase, so that tries cost a
/// small part of the run. Without a lock the pause is short, since what kept the cores
/// busy may be over soon; behind a lock a single try decides, and the first one may have
/// paid for memory that later ones find ready.
inline constexpr Time kShortestPause = 30;
inline constexpr Time kLongestPause = 120;
/// Not longer than this, except after phases so long that two of the shortest pauses
/// are longer: tries would cost a tenth of the time.
inline constexpr Time kLongestPauseTime = 200 * kMillisecond;
inline constexpr Time kShortestPauseLocked = 4;
inline constexpr Time kLongestPauseLocked = 3000;

}  // namespace reactorl::tuning

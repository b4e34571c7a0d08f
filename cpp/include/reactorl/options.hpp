// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reactorl/tag.hpp"

namespace reactorl {

struct Options {
  bool fast = false;       // do not wait for the physical clock
  bool keepalive = false;  // continue when no event is queued
  bool trace = false;
  bool trace_values =
      false;            // the trace keeps native arrays and structs, not their types
  bool replay = false;  // physical events come from `preload` alone
  bool one_at_a_time = false;  // the interpreter runs one thread at a time (a GIL)
  bool stay_home = false;      // a reaction runs on its home worker and on no other
  Time timeout = kForever;     // kForever: none
  Time start = kForever;       // kForever: the machine's time
  std::uint32_t timing = 0;    // how many invocations to keep the times of; 0: no times
  std::uint64_t shuffle = 0;   // tests: another order of ready reactions for each value
};

enum class Status : std::uint8_t { kRunning, kFinished, kFailed, kBrokenOff };

}  // namespace reactorl

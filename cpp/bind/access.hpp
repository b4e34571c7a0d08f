// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <cstdint>
#include <memory>
#include <vector>

#include "python_host.hpp"
#include "reactorl/scheduler.hpp"

namespace reactorl::bind {

/// A set of reactions of one reactor, by index. One word for nearly every reactor.
class ReactionSet {
 public:
  void add(std::uint32_t index) {
    if (index < 64) {
      first_ |= std::uint64_t{1} << index;
      return;
    }
    if (!rest_) rest_ = std::make_unique<std::vector<bool>>();
    if (rest_->size() <= index) rest_->resize(index + 1);
    (*rest_)[index] = true;
  }
  [[nodiscard]] auto has(std::uint32_t index) const -> bool {
    if (index < 64) return ((first_ >> index) & 1U) != 0;
    return rest_ && index < rest_->size() && (*rest_)[index];
  }

 private:
  std::uint64_t first_ = 0;
  std::unique_ptr<std::vector<bool>> rest_;
};

/// What every view has: whose it is, and which element it shows.
struct ViewBase {
  PyObject_HEAD;
  std::uint64_t serial;   // of the scheduler it belongs to
  ReactorId holder;       // the reactor whose reactions may use it
  std::uint32_t element;  // channel, action or mode id of the program, for messages
};

inline auto host_of(const Worker& worker) -> PythonHost& {
  return *static_cast<PythonHost*>(worker.context);
}

/// The worker, if the calling thread runs a reaction in `set` of the view's holder.
inline auto permitted(const ViewBase& view, const ReactionSet& set) -> Worker* {
  Worker* worker = current_worker();
  if (worker == nullptr || worker->serial != view.serial) return nullptr;
  if (worker->reaction == kNone) return nullptr;
  const Identity& running = host_of(*worker).identities[worker->reaction];
  if (running.reactor != view.holder || !set.has(running.index)) return nullptr;
  return worker;
}

/// Raises the error that says who touched what, and the fix. Returns null.
auto refuse(const ViewBase& view, const char* kind, const char* verb) -> PyObject*;

}  // namespace reactorl::bind

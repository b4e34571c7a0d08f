// SPDX-License-Identifier: Apache-2.0
#include "reactorl/sharing.hpp"

#include "reactorl/estimated_sharing.hpp"
#include "reactorl/measured_sharing.hpp"

namespace reactorl {

auto make_sharing_policy(const Plan& plan, const Options& options, const Costs& costs,
                         TimeSource now) -> std::unique_ptr<SharingPolicy> {
  if (options.sharing == Sharing::kMeasured) {
    return std::make_unique<MeasuredSharing>(plan, now);
  }
  return std::make_unique<EstimatedSharing>(plan, options.one_at_a_time, costs, now);
}

}  // namespace reactorl

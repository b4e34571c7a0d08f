// SPDX-License-Identifier: Apache-2.0
// The client of the star as a native body: replies with the request.
#include <reactorl.h>

REACTORL_BODY(work, "int64 -> int64") {
  return reactorl_set_int64(context, 0, 0, reactorl_get_int64(context, 0, 0));
}

// SPDX-License-Identifier: Apache-2.0
// Native bodies for tests.
#include <reactorl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- A ring of numbers: the twin of Ring in programs.py ------------------------------

typedef struct {
  int64_t total;
} ring;

static int32_t ring_init(void* state, reactorl_setup* setup) {
  ((ring*)state)->total = setup->bank_index + 1;
  return 0;
}

REACTORL_STATE(ring_state, ring, ring_init, NULL, NULL, NULL);

REACTORL_BODY(ring_begin, "-> int64") { return reactorl_set_int64(context, 0, 0, 1); }

REACTORL_BODY(ring_pass, "int64 -> int64, float64[3], int64") {
  ring* self = state;
  self->total = (self->total * 31 + reactorl_get_int64(context, 0, 0)) % 10007;
  reactorl_set_int64(context, 0, 0, self->total);
  double* seen = reactorl_make_float64s(context, 1, 0, 3);
  seen[0] = (double)self->total;
  seen[1] = (double)self->total / 7;
  if (self->total % 3 == 0) {
    reactorl_schedule_int64(context, 2, self->total % 2, self->total);
  }
  return 0;
}

REACTORL_BODY(ring_again, "int64 -> int64") {
  ring* self = state;
  self->total += reactorl_get_int64(context, 0, 0);
  return reactorl_set_int64(context, 0, 0, self->total);
}

REACTORL_BODY(ring_gather, "float64[3] -> float64") {
  double sum = 0;
  for (uint32_t i = 0; i < reactorl_input_width(context, 0); ++i) {
    if (!reactorl_present(context, 0, i)) continue;
    const double* seen = reactorl_get_float64s(context, 0, i, 3);
    sum += seen[0] + seen[1] + seen[2];
  }
  return reactorl_set_float64(context, 0, 0, sum);
}

// ---- Two bodies that wait for each other ---------------------------------------------

static int arrived = 0;

REACTORL_BODY(meet, "->") {
  const int place = __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
  const int all = (place + 1) / 2 * 2;  // this pair, and all before
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < all) {
    const struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
  }
  return 0;
}

// ---- Echoes of all types --------------------------------------------------------------

#define ECHO(name, type)                                                       \
  REACTORL_BODY(echo_##name, #name " -> " #name) {                             \
    const type value = reactorl_get_##name(context, 0, 0);                     \
    return reactorl_set_##name(context, 0, 0, value);                          \
  }
ECHO(int8, int8_t)
ECHO(int16, int16_t)
ECHO(int32, int32_t)
ECHO(int64, int64_t)
ECHO(uint8, uint8_t)
ECHO(uint16, uint16_t)
ECHO(uint32, uint32_t)
ECHO(uint64, uint64_t)
ECHO(float32, float)
ECHO(float64, double)

REACTORL_BODY(echo_bool, "bool -> bool") {
  return reactorl_set_bool(context, 0, 0, reactorl_get_bool(context, 0, 0));
}
REACTORL_BODY(echo_none, "none -> none") {
  return reactorl_present(context, 0, 0) ? reactorl_set_none(context, 0, 0) : 9;
}
REACTORL_BODY(echo_bytes, "bytes[5] -> bytes[5]") {
  const void* bytes = reactorl_get_bytes(context, 0, 0, 5);
  return reactorl_set_bytes(context, 0, 0, bytes, 5);
}
REACTORL_BODY(echo_array, "float32[6] -> float32[6]") {
  const float* in = reactorl_get_float32s(context, 0, 0, 6);
  memcpy(reactorl_make_float32s(context, 0, 0, 6), in, 6 * sizeof(float));
  return 0;
}

typedef struct {
  int32_t suit;
  double value;
} card;

REACTORL_BODY(echo_struct, "bytes[16] -> bytes[16]") {
  card seen = *(const card*)reactorl_get_bytes(context, 0, 0, sizeof(card));
  seen.suit += 1;
  return reactorl_set_bytes(context, 0, 0, &seen, sizeof seen);
}

// ---- Failures, stops, time -------------------------------------------------------------

REACTORL_BODY(fail_with_message, "->") {
  return reactorl_fail(context, 3, "no such card");
}
REACTORL_BODY(fail_with_code, "->") { return -7; }
REACTORL_BODY(wrong_input, "-> int64") {
  return (int32_t)reactorl_get_int64(context, 0, 0);
}
REACTORL_BODY(wrong_type, "int64 -> int64") {
  reactorl_get_float64(context, 0, 0);
  return reactorl_set_int64(context, 0, 0, 1);
}
REACTORL_BODY(stop_at_three, "int64 ->") {
  return reactorl_get_int64(context, 0, 0) == 3 ? reactorl_request_stop(context) : 0;
}
REACTORL_BODY(tell_time, "-> int64, int64, int64") {
  const reactorl_tag now = reactorl_now(context);
  const int64_t start = reactorl_start_time(context);
  reactorl_set_int64(context, 0, 0, now.time - start);
  reactorl_set_int64(context, 1, 0, now.microstep);
  return reactorl_set_int64(context, 2, 0, reactorl_physical_time(context));
}
REACTORL_BODY(send_later, "-> float64") {
  return reactorl_schedule_float64(context, 0, 1000000, 2.5);
}
REACTORL_BODY(one, "-> int64") { return reactorl_set_int64(context, 0, 0, 1); }
REACTORL_BODY(two, "-> int64") { return reactorl_set_int64(context, 0, 0, 2); }
REACTORL_BODY(enter_other, "-> mode") { return reactorl_enter_mode(context, 0); }

// ---- State ------------------------------------------------------------------------------

typedef struct {
  int64_t* count;  // on the heap, so that it needs all functions
  uint64_t seed;
  double rate;
  int64_t bank_index;
  char reactor[64];
} counter;

static int32_t counter_init(void* state, reactorl_setup* setup) {
  counter* self = state;
  for (uint32_t i = 0; i < setup->param_count; ++i) {
    if (strcmp(setup->params[i].name, "rate") == 0) self->rate = setup->params[i].number;
  }
  if (self->rate < 0) {
    snprintf(setup->message, sizeof setup->message, "rate must not be negative");
    return 4;
  }
  self->count = malloc(sizeof(int64_t));
  if (self->count == NULL) return 1;
  *self->count = 0;
  self->seed = setup->seed;
  self->bank_index = setup->bank_index;
  snprintf(self->reactor, sizeof self->reactor, "%s", setup->reactor);
  return 0;
}
static int64_t destroyed = 0;
static void counter_destroy(void* state) {
  free(((counter*)state)->count);
  __atomic_add_fetch(&destroyed, 1, __ATOMIC_SEQ_CST);
}
static uint64_t counter_save(const void* state, void* to, uint64_t capacity) {
  if (capacity >= sizeof(int64_t)) {
    memcpy(to, ((const counter*)state)->count, sizeof(int64_t));
  }
  return sizeof(int64_t);
}
static int32_t counter_load(void* state, const void* from, uint64_t length) {
  if (length != sizeof(int64_t)) return 5;
  memcpy(((counter*)state)->count, from, length);
  return 0;
}
REACTORL_STATE(counter_state, counter, counter_init, counter_destroy, counter_save,
               counter_load);

REACTORL_EXPORT int64_t count_destroyed(void);
int64_t count_destroyed(void) { return destroyed; }

REACTORL_BODY(count, "-> int64, float64, int64, uint64, bytes[64]") {
  counter* self = state;
  *self->count += 1;
  reactorl_set_int64(context, 0, 0, *self->count);
  reactorl_set_float64(context, 1, 0, self->rate);
  reactorl_set_int64(context, 2, 0, self->bank_index);
  reactorl_set_uint64(context, 3, 0, self->seed);
  return reactorl_set_bytes(context, 4, 0, self->reactor, sizeof self->reactor);
}

// Not described: its address is taken by the name of the function.
REACTORL_EXPORT int32_t count_again(reactorl_context* context, void* state);
int32_t count_again(reactorl_context* context, void* state) {
  counter* self = state;
  *self->count += 1;
  return reactorl_set_int64(context, 0, 0, *self->count);
}

// ---- What other versions of the header would have made ------------------------------------

REACTORL_EXPORT const reactorl_body from_the_future;
const reactorl_body from_the_future = {REACTORL_ABI + 1, sizeof(reactorl_body), "->", 0};
REACTORL_EXPORT const reactorl_body without_function;
const reactorl_body without_function = {REACTORL_ABI, sizeof(reactorl_body), "->", 0};
REACTORL_EXPORT const reactorl_body without_types;
const reactorl_body without_types = {REACTORL_ABI, sizeof(reactorl_body), "int65 ->",
                                     meet_body};
REACTORL_EXPORT const reactorl_state state_from_the_future;
const reactorl_state state_from_the_future = {REACTORL_ABI + 1, sizeof(reactorl_state),
                                              8, 0, 0, 0, 0};

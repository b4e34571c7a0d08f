/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native bodies: reactions of ReactoRL programs in C, or in any language that can export C
 * functions and data. See docs/native-bodies.md.
 *
 *     #include <reactorl.h>
 *
 *     REACTORL_BODY(work, "int64 -> int64") {
 *       reactorl_set_int64(context, 0, 0, reactorl_get_int64(context, 0, 0) + 1);
 *       return 0;
 *     }
 *
 * A body runs on a worker that is not attached to the Python interpreter: it must not call
 * Python, and runs in parallel with other bodies also where Python has a global lock. It
 * returns 0, or another number if it failed. It may use `context` until it returns, and on
 * its own thread only.
 *
 * Inputs and effects have numbers, in this order: as inputs the ports that trigger the
 * reaction, its source ports, and the actions that trigger it; as effects ports, actions,
 * modes. Within each group the order is that of the signature in Python, and a port of a
 * bank has one number for each member. A channel is the index into a multiport; it is 0 for
 * other ports and for actions.
 *
 * Plain C, since C99. Everything that compiled against one ABI version runs with all
 * versions of the package that have the same.
 */
#ifndef REACTORL_H
#define REACTORL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REACTORL_ABI 1

#ifdef __cplusplus
#define REACTORL_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" {
#else
#define REACTORL_EXPORT extern __attribute__((visibility("default")))
#endif

/* ---- Types of values ------------------------------------------------------------- */

enum {
  REACTORL_NONE = 0, /* present or absent, without data */
  REACTORL_BOOL = 1, /* one byte, 0 or 1 */
  REACTORL_INT8 = 2,
  REACTORL_INT16 = 3,
  REACTORL_INT32 = 4,
  REACTORL_INT64 = 5,
  REACTORL_UINT8 = 6,
  REACTORL_UINT16 = 7,
  REACTORL_UINT32 = 8,
  REACTORL_UINT64 = 9,
  REACTORL_FLOAT32 = 10,
  REACTORL_FLOAT64 = 11,
  REACTORL_BYTES = 12 /* always with a count; also for structs */
};

/* A type is a kind and a count of elements; the count is 0 for a single number. */
typedef uint64_t reactorl_type;
#define REACTORL_TYPE(kind, count) ((reactorl_type)(kind) | ((reactorl_type)(count) << 8U))

/* ---- What a body can call --------------------------------------------------------- */

typedef struct {
  int64_t time;       /* nanoseconds */
  uint32_t microstep;
} reactorl_tag;

typedef struct reactorl_context reactorl_context;

/* Bodies use the functions further down instead of this table. A later version of the
 * same ABI may append to it; `size` is the size in bytes of what the package has. */
typedef struct reactorl_api {
  uint32_t abi;
  uint32_t size;
  uint32_t (*input_width)(reactorl_context*, uint32_t input);
  uint32_t (*effect_width)(reactorl_context*, uint32_t effect);
  bool (*present)(reactorl_context*, uint32_t input, uint32_t channel);
  const void* (*get)(reactorl_context*, uint32_t input, uint32_t channel, reactorl_type);
  int32_t (*set)(reactorl_context*, uint32_t effect, uint32_t channel, reactorl_type,
                 const void* data);
  void* (*make)(reactorl_context*, uint32_t effect, uint32_t channel, reactorl_type);
  int32_t (*schedule)(reactorl_context*, uint32_t effect, int64_t delay, reactorl_type,
                      const void* data);
  int32_t (*enter_mode)(reactorl_context*, uint32_t effect);
  int32_t (*request_stop)(reactorl_context*);
  reactorl_tag (*tag)(reactorl_context*);
  int64_t (*start_time)(reactorl_context*);
  int64_t (*physical_time)(reactorl_context*);
  int32_t (*fail)(reactorl_context*, int32_t code, const char* message);
} reactorl_api;

struct reactorl_context {
  const reactorl_api* api; /* what follows is not part of the interface */
};

/* ---- What a library exports ------------------------------------------------------- */

typedef int32_t (*reactorl_function)(reactorl_context* context, void* state);

/* A body. `signature` lists the types of all inputs and effects as Python writes them,
 * "int64, float64[4] -> bool, mode", and is compared with the reaction before the start. */
typedef struct {
  uint32_t abi;
  uint32_t size;
  const char* signature;
  reactorl_function function;
} reactorl_body;

#ifdef __GNUC__
#define REACTORL_MAY_BE_UNUSED __attribute__((unused))
#else
#define REACTORL_MAY_BE_UNUSED
#endif

/* Defines and exports the body `name`, a function of `context` and `state`. */
#define REACTORL_BODY(name, signature)                                               \
  static int32_t name##_body(reactorl_context* context, void* state);                \
  REACTORL_EXPORT const reactorl_body name;                                          \
  const reactorl_body name = {REACTORL_ABI, (uint32_t)sizeof(reactorl_body),         \
                              signature, name##_body};                               \
  static int32_t name##_body(reactorl_context* context REACTORL_MAY_BE_UNUSED,       \
                             void* state REACTORL_MAY_BE_UNUSED)

/* A parameter of the reactor whose value is a number; others are left out. */
typedef struct {
  const char* name;
  bool is_integer; /* of int or bool in Python; else of float */
  int64_t integer;
  double number; /* the same as a float */
} reactorl_param;

/* What the state of a reactor is made from. */
typedef struct {
  uint32_t size;
  const char* reactor; /* its full name */
  uint64_t seed;       /* of this reactor alone: the lowest 64 bits of `self.seed` */
  int64_t bank_index;  /* 0 outside of banks */
  const reactorl_param* params;
  uint32_t param_count;
  char message[256]; /* what went wrong, if `init` fails */
} reactorl_setup;

/* The state of a reactor, shared by its reactions. All functions may be null, run on one
 * thread at a time, and return 0 unless they failed.
 *
 * `save` writes at most `capacity` bytes and returns how many it takes; it is called with
 * 0 first. `load` replaces an initialized state by a saved one. Without them the bytes of
 * the state are what is saved, so it must not contain pointers. */
typedef struct {
  uint32_t abi;
  uint32_t size;
  uint64_t state_size; /* bytes, zero before `init`, aligned for any type */
  int32_t (*init)(void* state, reactorl_setup* setup);
  void (*destroy)(void* state);
  uint64_t (*save)(const void* state, void* to, uint64_t capacity);
  int32_t (*load)(void* state, const void* from, uint64_t length);
} reactorl_state;

/* Exports the state `name`; any of the functions may be NULL. */
#define REACTORL_STATE(name, type, init, destroy, save, load)                        \
  REACTORL_EXPORT const reactorl_state name;                                         \
  const reactorl_state name = {                                                      \
      REACTORL_ABI, (uint32_t)sizeof(reactorl_state), sizeof(type), init, destroy,   \
      save,         load}

/* ---- Functions for bodies --------------------------------------------------------- */
/*
 * A number that is out of range, or another type than Python declares, makes the body
 * fail: from then on these functions do nothing and return 0, and the program ends when
 * the body returns.
 */

/* The number of channels. */
static inline uint32_t reactorl_input_width(reactorl_context* c, uint32_t input) {
  return c->api->input_width(c, input);
}
static inline uint32_t reactorl_effect_width(reactorl_context* c, uint32_t effect) {
  return c->api->effect_width(c, effect);
}
/* Whether an input was set, or an action happens, at the current tag. */
static inline bool reactorl_present(reactorl_context* c, uint32_t input,
                                    uint32_t channel) {
  return c->api->present(c, input, channel);
}
/* The value of an input, also while it is absent: the last one; null if there was none.
 * It must not be changed, and may be read until the body returns or sets the same port. */
static inline const void* reactorl_get(reactorl_context* c, uint32_t input,
                                       uint32_t channel, reactorl_type type) {
  return c->api->get(c, input, channel, type);
}
/* Makes an output present with a copy of `data`, at the current tag. The last one wins. */
static inline int32_t reactorl_set(reactorl_context* c, uint32_t effect, uint32_t channel,
                                   reactorl_type type, const void* data) {
  return c->api->set(c, effect, channel, type, data);
}
/* The same, but returns the memory to write the value into, which is zero and may be
 * written until the body returns. Null only after a failure. */
static inline void* reactorl_make(reactorl_context* c, uint32_t effect, uint32_t channel,
                                  reactorl_type type) {
  return c->api->make(c, effect, channel, type);
}
/* Lets an action happen `delay` plus its minimum delay later, with a copy of `data`; zero
 * means the next microstep. */
static inline int32_t reactorl_schedule(reactorl_context* c, uint32_t effect,
                                        int64_t delay, reactorl_type type,
                                        const void* data) {
  return c->api->schedule(c, effect, delay, type, data);
}
/* Enters a mode when the current tag is done, in the way that Python declares. */
static inline int32_t reactorl_enter_mode(reactorl_context* c, uint32_t effect) {
  return c->api->enter_mode(c, effect);
}
/* Makes the next microstep the last one; the reaction must be declared with stops=True. */
static inline int32_t reactorl_request_stop(reactorl_context* c) {
  return c->api->request_stop(c);
}
/* The current tag, in time since 1970, and the time of the first one. */
static inline reactorl_tag reactorl_now(reactorl_context* c) { return c->api->tag(c); }
static inline int64_t reactorl_start_time(reactorl_context* c) {
  return c->api->start_time(c);
}
/* The physical clock; recordings contain what it returned. */
static inline int64_t reactorl_physical_time(reactorl_context* c) {
  return c->api->physical_time(c);
}
/* Makes the body fail, with a message that is copied. Returns `code`, or -1 for 0, for
 * `return reactorl_fail(context, 3, "no such card");` */
static inline int32_t reactorl_fail(reactorl_context* c, int32_t code,
                                    const char* message) {
  return c->api->fail(c, code, message);
}

/* reactorl_get_int64(context, input, channel)                 0 if there was none
 * reactorl_set_int64(context, effect, channel, value)
 * reactorl_schedule_int64(context, effect, delay, value)
 * reactorl_get_int64s(context, input, channel, count)         an array, or null
 * reactorl_make_int64s(context, effect, channel, count)       an array to fill in
 * and so on for bool, all integers, float32 and float64. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses. */
#define REACTORL_ACCESS_(name, type, kind)                                              \
  static inline type reactorl_get_##name(reactorl_context* c, uint32_t input,           \
                                         uint32_t channel) {                            \
    const type* found = (const type*)reactorl_get(c, input, channel, kind);             \
    return found ? *found : (type)0;                                                    \
  }                                                                                     \
  static inline int32_t reactorl_set_##name(reactorl_context* c, uint32_t effect,       \
                                            uint32_t channel, type value) {             \
    return reactorl_set(c, effect, channel, kind, &value);                              \
  }                                                                                     \
  static inline int32_t reactorl_schedule_##name(reactorl_context* c, uint32_t effect,  \
                                                 int64_t delay, type value) {           \
    return reactorl_schedule(c, effect, delay, kind, &value);                           \
  }                                                                                     \
  static inline const type* reactorl_get_##name##s(reactorl_context* c, uint32_t input, \
                                                   uint32_t channel, uint64_t count) {  \
    return (const type*)reactorl_get(c, input, channel, REACTORL_TYPE(kind, count));    \
  }                                                                                     \
  static inline type* reactorl_make_##name##s(reactorl_context* c, uint32_t effect,     \
                                              uint32_t channel, uint64_t count) {       \
    return (type*)reactorl_make(c, effect, channel, REACTORL_TYPE(kind, count));        \
  }
REACTORL_ACCESS_(bool, bool, REACTORL_BOOL)
REACTORL_ACCESS_(int8, int8_t, REACTORL_INT8)
REACTORL_ACCESS_(int16, int16_t, REACTORL_INT16)
REACTORL_ACCESS_(int32, int32_t, REACTORL_INT32)
REACTORL_ACCESS_(int64, int64_t, REACTORL_INT64)
REACTORL_ACCESS_(uint8, uint8_t, REACTORL_UINT8)
REACTORL_ACCESS_(uint16, uint16_t, REACTORL_UINT16)
REACTORL_ACCESS_(uint32, uint32_t, REACTORL_UINT32)
REACTORL_ACCESS_(uint64, uint64_t, REACTORL_UINT64)
REACTORL_ACCESS_(float32, float, REACTORL_FLOAT32)
REACTORL_ACCESS_(float64, double, REACTORL_FLOAT64)
#undef REACTORL_ACCESS_
/* NOLINTEND(bugprone-macro-parentheses) */

/* What has the type "none". */
static inline int32_t reactorl_set_none(reactorl_context* c, uint32_t effect,
                                        uint32_t channel) {
  return reactorl_set(c, effect, channel, REACTORL_NONE, NULL);
}
static inline int32_t reactorl_schedule_none(reactorl_context* c, uint32_t effect,
                                             int64_t delay) {
  return reactorl_schedule(c, effect, delay, REACTORL_NONE, NULL);
}
/* Structs and other bytes. */
static inline const void* reactorl_get_bytes(reactorl_context* c, uint32_t input,
                                             uint32_t channel, uint64_t size) {
  return reactorl_get(c, input, channel, REACTORL_TYPE(REACTORL_BYTES, size));
}
static inline int32_t reactorl_set_bytes(reactorl_context* c, uint32_t effect,
                                         uint32_t channel, const void* data,
                                         uint64_t size) {
  return reactorl_set(c, effect, channel, REACTORL_TYPE(REACTORL_BYTES, size), data);
}
static inline int32_t reactorl_schedule_bytes(reactorl_context* c, uint32_t effect,
                                              int64_t delay, const void* data,
                                              uint64_t size) {
  return reactorl_schedule(c, effect, delay, REACTORL_TYPE(REACTORL_BYTES, size), data);
}

#ifdef __cplusplus
}
#endif
#endif

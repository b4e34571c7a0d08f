// SPDX-License-Identifier: Apache-2.0
// A test is a function; an executable is one file of tests that includes this header.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace check {

/// Sanitizers slow everything down about tenfold: repeat less under them.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

[[nodiscard]] constexpr auto scaled(int plain, int sanitized) -> int {
  return kSanitized ? sanitized : plain;
}

struct Case {
  const char* name;
  void (*run)();
};

inline auto cases() -> std::vector<Case>& {
  static std::vector<Case> all;
  return all;
}
inline auto add(const char* name, void (*run)()) -> bool {
  cases().push_back({name, run});
  return true;
}

inline std::atomic<int> failed_checks{0};

inline void fail(const char* file, int line, const std::string& what) {
  // A broken invariant tends to break often; the first few say enough.
  if (failed_checks.fetch_add(1) < 10) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
  }
}

template <class T>
void print(std::ostream& out, const T& value) {
  if constexpr (requires { out << value; }) {
    out << value;
  } else if constexpr (requires { value.microstep; }) {
    out << '(' << value.time << ", " << value.microstep << ')';
  } else if constexpr (requires { value.begin(); }) {
    out << '{';
    for (const auto& item : value) {
      print(out, item);
      out << ' ';
    }
    out << '}';
  } else {
    out << '?';
  }
}

template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::ostringstream out;
  out << text << ": ";
  print(out, a);
  out << " is not ";
  print(out, b);
  fail(file, line, out.str());
}

inline auto run_all(const char* filter) -> int {
  int passed = 0;
  int failed = 0;
  for (const Case& test : cases()) {
    if (filter != nullptr && std::strstr(test.name, filter) == nullptr) continue;
    failed_checks = 0;
    try {
      test.run();
    } catch (const std::exception& error) {
      fail(test.name, 0, std::string(error.what()));
    }
    if (failed_checks == 0) {
      ++passed;
    } else {
      ++failed;
      std::fprintf(stderr, "FAILED %s (%d checks)\n", test.name, failed_checks.load());
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

/// Random numbers that are the same on every machine (splitmix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  auto operator()() -> std::uint64_t {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }
  /// From 0 to `n - 1`.
  auto below(std::uint64_t n) -> std::uint32_t {
    return static_cast<std::uint32_t>((*this)() % n);
  }
  auto chance(unsigned percent) -> bool { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace check

#define TEST(name)                                          \
  static void name();                                       \
  static const bool name##_added = check::add(#name, name); \
  static void name()

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
  } while (false)

#define CHECK_EQ(a, b) check::equal((a), (b), #a " == " #b, __FILE__, __LINE__)

#define CHECK_THROWS(statement, type)                                                   \
  do {                                                                                  \
    bool thrown_ = false;                                                               \
    try {                                                                               \
      statement;                                                                        \
    } catch (const type&) {                                                             \
      thrown_ = true;                                                                   \
    }                                                                                   \
    if (!thrown_) check::fail(__FILE__, __LINE__, #statement " does not throw " #type); \
  } while (false)

/// The only argument, if any, selects the tests whose names contain it.
auto main(int count, char** arguments) -> int {
  return check::run_all(count > 1 ? arguments[1] : nullptr);
}

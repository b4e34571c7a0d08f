// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "bit_generator.hpp"
#include "body.hpp"

namespace reactorl::native {

/// Gymnasium's `BlackjackEnv`.
struct Blackjack {
  static constexpr std::size_t kMostCards = 24;  // 22 aces are a bust

  /// The cards of the player or the dealer, in the order in which they were drawn.
  struct Hand {
    std::array<std::uint8_t, kMostCards> cards{};
    std::size_t count = 0;
    int total = 0;  // an ace counts 1
    bool has_ace = false;

    void add(std::uint32_t card) {
      cards[count++] = static_cast<std::uint8_t>(card);
      total += static_cast<int>(card);
      has_ace = has_ace || card == 1;
    }
    [[nodiscard]] auto has_usable_ace() const -> bool { return has_ace && total <= 11; }
    [[nodiscard]] auto sum() const -> int {
      return has_usable_ace() ? total + 10 : total;
    }
    [[nodiscard]] auto score() const -> int { return sum() > 21 ? 0 : sum(); }
    [[nodiscard]] auto is_natural() const -> bool {
      return count == 2 && has_ace && total == 11;
    }

    void put(const double* n) {
      *this = {};
      for (std::size_t i = 0; i < static_cast<std::size_t>(n[0]); ++i) {
        add(static_cast<std::uint32_t>(n[1 + i]));
      }
    }
    void get(double* n) const {
      n[0] = static_cast<double>(count);
      for (std::size_t i = 0; i < count; ++i) n[1 + i] = cards[i];
    }
  };

  using Action = std::int64_t;
  static constexpr std::size_t kNumbers = 4 + 2 * (1 + kMostCards);
  static constexpr std::size_t kNanoseconds = 30;
  static constexpr bool kResets = true;

  bool by_book = true;  // `sab`
  bool pays_naturals = false;
  std::uint32_t suit = 0;
  std::uint32_t face = 0;  // of a ten: 1 to 3, of another card 0
  Hand player, dealer;

  void put(const double* n) {
    by_book = n[0] != 0, pays_naturals = n[1] != 0;
    suit = static_cast<std::uint32_t>(n[2]), face = static_cast<std::uint32_t>(n[3]);
    player.put(n + 4);
    dealer.put(n + 5 + kMostCards);
  }
  void get(double* n) const {
    n[2] = suit, n[3] = face;
    player.get(n + 4);
    dealer.get(n + 5 + kMostCards);
  }

  [[nodiscard]] auto step(Action action, BitGenerator& random, Outcome& out) -> bool {
    if (action < 0 || action > 1 || player.count >= kMostCards ||
        dealer.count >= kMostCards) {
      return false;
    }
    if (action == 1) {
      player.add(draw(random));
      out.terminated = player.sum() > 21;
      out.reward = out.terminated ? -1.0 : 0.0;
      return true;
    }
    out.terminated = true;
    while (dealer.sum() < 17) dealer.add(draw(random));
    const int ours = player.score();
    const int theirs = dealer.score();
    out.reward = static_cast<double>(ours > theirs) - static_cast<double>(ours < theirs);
    if (by_book && player.is_natural() && !dealer.is_natural()) {
      out.reward = 1.0;
    } else if (!by_book && pays_naturals && player.is_natural() && out.reward == 1.0) {
      out.reward = 1.5;
    }
    return true;
  }

  void reset(BitGenerator& random) {
    dealer = {};
    dealer.add(draw(random));
    dealer.add(draw(random));
    player = {};
    player.add(draw(random));
    player.add(draw(random));
    suit = random.below(4);
    face = dealer.cards[0] == 10 ? 1 + random.below(3) : 0;
  }

  void observe(const Columns& to, std::size_t row) const {
    to.integer(0, row) = player.sum();
    to.integer(1, row) = dealer.cards[0];
    to.integer(2, row) = player.has_usable_ace() ? 1 : 0;
  }

 private:
  [[nodiscard]] static auto draw(BitGenerator& random) -> std::uint32_t {
    const std::uint32_t place = random.below(13);
    return place < 10 ? place + 1 : 10;
  }
};

}  // namespace reactorl::native

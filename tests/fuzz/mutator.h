#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::byte>;

/// Damages bytes like a fuzzer where none is available. The same seed gives the same damage.
class Mutator {
public:
    explicit Mutator(unsigned seed) : m_random(seed) {}

    /// Makes one change: flips a bit, sets a byte, writes a number that is too large, removes or repeats a piece (up to
    /// `longest` bytes), or truncates the end.
    void change(Bytes& bytes, std::size_t longest)
    {
        if (bytes.empty())
            return;
        const std::size_t at = below(bytes.size());
        const std::size_t length = std::min(1 + below(longest), bytes.size() - at);
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (below(6)) {
        case 0:
            bytes[at] ^= static_cast<std::byte>(1U << below(8));
            break;
        case 1:
            bytes[at] = static_cast<std::byte>(below(3) == 0 ? 0xff : below(256));
            break;
        case 2: // a number that is much too large
            std::fill_n(place, std::min<std::size_t>(length, 8), std::byte{0xff});
            break;
        case 3:
            bytes.erase(place, place + static_cast<std::ptrdiff_t>(length));
            break;
        case 4: {
            const Bytes copy(place, place + static_cast<std::ptrdiff_t>(length));
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())), copy.begin(), copy.end());
            break;
        }
        default:
            if (below(4) == 0)
                bytes.resize(at);
        }
    }
    /// A random number in [0, limit).
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(m_random); }

private:
    std::mt19937 m_random;
};

} // namespace fuzz

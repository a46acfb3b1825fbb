#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::byte>;

/// Damages bytes as a fuzzer does, where there is none: the same damage for the same seed.
class Mutator {
public:
    explicit Mutator(unsigned seed) : m_random(seed) {}

    /// One damage: a bit, a byte, a number that is too large, a piece lost or repeated (up to `longest` bytes), the end
    /// cut off.
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
    /// A number from 0 to below `limit`.
    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(m_random); }

private:
    std::mt19937 m_random;
};

} // namespace fuzz

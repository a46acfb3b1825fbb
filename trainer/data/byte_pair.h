#pragma once

#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainer::data {

/// Byte-level byte-pair encoding as in GPT-2 (Sennrich et al. 2016; Radford et al. 2019): a pattern splits the text,
/// then neighbouring tokens are merged within each piece, in the order in which the merges were learned.
class BytePairEncoder {
public:
    /// Reads a tokenizer.json, or a vocab.json with merges.txt in the same folder. Errors name the missing or
    /// unsupported part (only byte-level BPE is supported).
    static profiler::Result<BytePairEncoder> load(const std::filesystem::path& path);

    /// All ids are below vocabulary().
    [[nodiscard]] std::int64_t vocabulary() const { return m_vocabulary; }
    /// Appends the ids of a text. The error names a byte that is not in the vocabulary; Cancelled after a stop.
    profiler::Result<void> encode(std::string_view text, std::vector<std::uint32_t>& out, std::stop_token stop) const;

private:
    struct Pattern;
    struct Merge {
        std::uint32_t rank, id;
    };
    using Vocabulary = std::unordered_map<std::string, std::uint32_t>; ///< raw bytes → id

    BytePairEncoder() = default;
    profiler::Result<void> take(const Vocabulary& vocabulary, const std::vector<std::array<std::string, 2>>& merges,
                                const std::string& pattern, const std::string& where);
    profiler::Result<void> encodePiece(std::string_view piece, std::vector<std::uint32_t>& out) const;
    friend class BytePairFile;

    std::shared_ptr<const Pattern> m_pattern;
    std::array<std::int64_t, 256> m_bytes{};           ///< id of each byte; −1: not in the vocabulary
    std::unordered_map<std::uint64_t, Merge> m_merges; ///< by both ids
    std::int64_t m_vocabulary = 0;
    std::string m_where;
};

} // namespace trainer::data

#include "trainer/data/byte_pair.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <pcre2.h>

namespace trainer::data {

using profiler::Error;
using profiler::Result;

namespace {

std::uint64_t pairOf(std::uint32_t left, std::uint32_t right)
{
    return (std::uint64_t{left} << 32) | right;
}

struct FreeMatch {
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

} // namespace

/// The regular expression that splits a text into pieces.
struct BytePairEncoder::Pattern {
    explicit Pattern(pcre2_code* compiled) : code(compiled) {}
    ~Pattern() { pcre2_code_free(code); }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    pcre2_code* code;
};

Result<void> BytePairEncoder::take(const Vocabulary& vocabulary, const std::vector<std::array<std::string, 2>>& merges,
                                   const std::string& pattern, const std::string& where)
{
    m_where = where;
    int number = 0;
    PCRE2_SIZE offset = 0;
    // Texts may contain invalid UTF-8: its bytes are matched one by one, as separate pieces.
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF, &number, &offset, nullptr);
    if (!code)
        return profiler::fail<"data.bpe.pattern", "its pre-tokenizer pattern cannot be used: {pattern}">(
            Error::Code::Unsupported, where, "choose a byte-level BPE vocabulary, such as GPT-2's",
            {{"pattern", pattern}});
    m_pattern = std::make_shared<const Pattern>(code);
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    m_bytes.fill(-1);
    for (const auto& [bytes, id] : vocabulary)
        if (bytes.size() == 1)
            m_bytes[static_cast<unsigned char>(bytes[0])] = id;
    for (const auto& [left, right] : merges) {
        const auto a = vocabulary.find(left), b = vocabulary.find(right), both = vocabulary.find(left + right);
        if (a == vocabulary.end() || b == vocabulary.end() || both == vocabulary.end())
            return profiler::fail<"data.bpe.merge", "merge {merge} joins tokens that are not in the vocabulary">(
                Error::Code::Malformed, where, "use the vocabulary and the merges of the same tokenizer",
                {{"merge", m_merges.size() + 1}});
        m_merges.try_emplace(pairOf(a->second, b->second),
                             Merge{static_cast<std::uint32_t>(m_merges.size()), both->second});
    }
    return {};
}

Result<void> BytePairEncoder::encodePiece(std::string_view piece, std::vector<std::uint32_t>& out) const
{
    const std::size_t begin = out.size();
    for (const char byte : piece) {
        const std::int64_t id = m_bytes[static_cast<unsigned char>(byte)];
        if (id < 0)
            return profiler::fail<"data.bpe.byte", "the text has the byte {byte}, which is not in the vocabulary">(
                Error::Code::Invalid, m_where, "choose a byte-level vocabulary with all 256 bytes",
                {{"byte", static_cast<unsigned char>(byte),
                  fmt::format("0x{:02x}", static_cast<unsigned char>(byte))}});
        out.push_back(static_cast<std::uint32_t>(id));
    }
    while (out.size() - begin > 1) {
        Merge best{std::numeric_limits<std::uint32_t>::max(), 0};
        std::size_t at = 0;
        for (std::size_t i = begin; i + 1 < out.size(); ++i)
            if (const auto found = m_merges.find(pairOf(out[i], out[i + 1]));
                found != m_merges.end() && found->second.rank < best.rank) {
                best = found->second;
                at = i;
            }
        if (best.rank == std::numeric_limits<std::uint32_t>::max())
            break;
        out[at] = best.id;
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return {};
}

Result<void> BytePairEncoder::encode(std::string_view text, std::vector<std::uint32_t>& out, std::stop_token stop) const
{
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(
        pcre2_match_data_create_from_pattern(m_pattern->code, nullptr));
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> known;
    const auto take = [&](std::string_view piece) -> Result<void> {
        auto [entry, isNew] = known.try_emplace(piece);
        if (isNew)
            if (auto encoded = encodePiece(piece, entry->second); !encoded)
                return encoded;
        out.insert(out.end(), entry->second.begin(), entry->second.end());
        return {};
    };
    for (std::size_t at = 0, pieces = 0; at < text.size(); ++pieces) {
        if (pieces % 4096 == 0 && stop.stop_requested())
            return profiler::fail<"data.cancelled", "cancelled">(Error::Code::Cancelled, m_where);
        const int found = pcre2_match(m_pattern->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, 0,
                                      match.get(), nullptr);
        const PCRE2_SIZE* span = pcre2_get_ovector_pointer(match.get());
        const bool any = found > 0 && span[1] > span[0];
        // The text between two matches is a piece too.
        const std::size_t begin = any ? span[0] : text.size(), end = any ? span[1] : text.size();
        if (begin > at)
            if (auto taken = take(text.substr(at, begin - at)); !taken)
                return taken;
        if (any)
            if (auto taken = take(text.substr(begin, end - begin)); !taken)
                return taken;
        at = end;
    }
    return {};
}

} // namespace trainer::data

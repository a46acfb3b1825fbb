#define PCRE2_CODE_UNIT_WIDTH 8
#include "profiler/model/name_matcher.h"

#include <array>
#include <pcre2.h>
#include <string>
#include <utility>

namespace profiler {
namespace {

/// Maximum steps of one match. For comparison, (a+)+b on thirty letters takes a thousand times more.
constexpr std::uint32_t kMaxSteps = 1'000'000;

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

std::uint32_t optionsOf(const NamePattern& pattern)
{
    // Names come from files and may contain bytes that are not valid UTF-8.
    std::uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    options |= pattern.regex ? PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF : PCRE2_LITERAL;
    if (!pattern.caseSensitive)
        options |= PCRE2_CASELESS;
    return options;
}

} // namespace

struct NameMatcher::Compiled {
    std::unique_ptr<pcre2_code, FreeCode> code;
    std::unique_ptr<pcre2_match_data, FreeMatch> match;
    std::unique_ptr<pcre2_match_context, FreeContext> context;
};

NameMatcher::NameMatcher(std::unique_ptr<Compiled> compiled) : m(std::move(compiled)) {}
NameMatcher::NameMatcher(NameMatcher&&) noexcept = default;
NameMatcher& NameMatcher::operator=(NameMatcher&&) noexcept = default;
NameMatcher::~NameMatcher() = default;

Result<NameMatcher> NameMatcher::make(const NamePattern& pattern)
{
    int number = 0;
    PCRE2_SIZE offset = 0;
    auto compiled = std::make_unique<Compiled>();
    compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.text.data()), pattern.text.size(),
                                       optionsOf(pattern), &number, &offset, nullptr));
    if (!compiled->code) {
        std::array<PCRE2_UCHAR, 256> words{};
        pcre2_get_error_message(number, words.data(), words.size());
        return fail<"search.pattern", "the search pattern is invalid: {why}">(
            Error::Code::Invalid, "character " + std::to_string(offset + 1),
            "correct the pattern, or search for plain text", {{"why", reinterpret_cast<const char*>(words.data())}});
    }
    // If the just-in-time compiler is unavailable (some kernels forbid it), PCRE2 uses its interpreter.
    static_cast<void>(pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE));
    compiled->match.reset(pcre2_match_data_create(1, nullptr));
    compiled->context.reset(pcre2_match_context_create(nullptr));
    if (!compiled->match || !compiled->context)
        return fail<"search.no_memory", "not enough memory for the search">(Error::Code::NoSpace);
    pcre2_set_match_limit(compiled->context.get(), kMaxSteps);
    pcre2_set_depth_limit(compiled->context.get(), kMaxSteps);
    return NameMatcher{std::move(compiled)};
}

std::optional<bool> NameMatcher::matches(std::string_view text) const
{
    const int found = pcre2_match(m->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                  m->match.get(), m->context.get());
    if (found == PCRE2_ERROR_NOMATCH)
        return false;
    if (found < 0)
        return std::nullopt;
    return true;
}

} // namespace profiler

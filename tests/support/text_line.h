#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

/// One line of a text, split into words and key=value options. Its functions abort, naming the line, if something is
/// wrong.
class TextLine {
public:
    TextLine(std::string_view text, int number);

    [[nodiscard]] bool empty() const { return m_words.empty(); }
    [[nodiscard]] std::string_view verb() const { return m_words.front(); }
    /// Word number `index` after the verb.
    [[nodiscard]] const std::string& word(std::size_t index) const;
    [[nodiscard]] std::size_t words() const { return m_words.size() - 1; }
    [[nodiscard]] bool has(std::string_view flag) const;
    [[nodiscard]] const std::string* option(std::string_view key) const;
    [[nodiscard]] std::int64_t number(std::string_view key, std::int64_t otherwise) const;
    /// Everything after the first `words` words, unchanged.
    [[nodiscard]] std::string rest(std::size_t words) const;

    [[nodiscard]] std::int64_t toNumber(std::string_view text) const;
    [[nodiscard]] double toReal(std::string_view text) const;
    /// In ns; `text` is in µs unless it has a unit.
    [[nodiscard]] std::int64_t toTime(std::string_view text) const;
    [[noreturn]] void fail(std::string_view what) const;

    /// Aborts unless there are `count` words after the verb, and every option and every later word is in `known`.
    void expect(std::size_t count, std::initializer_list<std::string_view> known) const;

private:
    struct Option {
        std::string key, value;
    };
    std::string m_text;
    int m_number;
    std::vector<std::string> m_words;
    std::vector<std::size_t> m_ends; ///< end of each word in m_text
    std::vector<Option> m_options;
};

} // namespace test_support

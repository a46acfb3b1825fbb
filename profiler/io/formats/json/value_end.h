#pragma once

#include <cstdint>

namespace profiler::formats::json {

/// Finds where a JSON value ends, however long it is, without checking it.
class ValueEnd {
public:
    /// Goes on in [p, end), whose first byte is the value's, or follows what was given before.
    /// @return  behind the value's last byte; null where it does not end in there
    const char* pass(const char* p, const char* end)
    {
        for (; p < end; ++p) {
            if (m_inText) {
                if (m_escaped)
                    m_escaped = false;
                else if (*p == '\\')
                    m_escaped = true;
                else if (*p == '"')
                    m_inText = false;
                if (m_inText)
                    continue;
            } else {
                m_inText = *p == '"';
                m_depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            }
            if (m_depth == 0 && !m_inText)
                return p + 1;
        }
        return nullptr;
    }

private:
    std::int64_t m_depth = 0;
    bool m_inText = false, m_escaped = false;
};

} // namespace profiler::formats::json

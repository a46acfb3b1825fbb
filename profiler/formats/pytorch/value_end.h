#pragma once

#include <cstdint>

namespace profiler::formats::json {

/// Finds the end of a JSON value of any length, without validating it.
class ValueEnd {
public:
    /// Continues in [p, end), which starts with the value's first byte or continues the previous call's text.
    /// @return the position after the value's last byte; null if the value does not end there
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

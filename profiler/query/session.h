#pragma once

#include "profiler/query/query.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <sqlite3.h>
#include <stop_token>

namespace profiler::query {

/// What the virtual tables of one query share. Used on the thread of the query.
struct Session {
    const Source& source;
    std::stop_token stop;
    std::chrono::steady_clock::time_point deadline;

    [[nodiscard]] const Trace& trace() const { return *source.trace; }
    [[nodiscard]] bool isLate() const { return std::chrono::steady_clock::now() >= deadline; }
    [[nodiscard]] bool mustStop() const { return stop.stop_requested() || isLate(); }
    /// The step that contains a time.
    [[nodiscard]] const analysis::Step* stepAt(TraceTime time) const;
};

/// Sets the result of a column to a text of the trace, which lives longer than the query.
inline void resultText(sqlite3_context* context, std::string_view text)
{
    sqlite3_result_text(context, text.data() ? text.data() : "", static_cast<int>(text.size()), SQLITE_STATIC);
}

/// Runs a callback of SQLite, which is written in C: no exception may leave it.
template <class Work>
int guarded(Work&& work) noexcept
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return SQLITE_NOMEM;
    } catch (const std::exception&) {
        return SQLITE_ERROR;
    }
}

} // namespace profiler::query

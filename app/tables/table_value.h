#pragma once

#include "profiler/model/clock.h"

#include <QString>
#include <cstdint>

namespace app {

/// The value of a table cell. It is displayed with three significant digits and a unit (positions in time with all
/// digits), and copied and saved exactly.
struct TableValue {
    enum class Unit : std::uint8_t {
        None,     ///< does not apply: an empty cell
        Text,     ///< `text`
        Count,    ///< `whole`
        Size,     ///< `text`, in the order of `whole`: "(141, 1, 1)" by its product
        Time,     ///< `whole`, ns: duration
        Bytes,    ///< `whole`
        Rate,     ///< `real`, bytes per second
        Share,    ///< `real`, share
        Position, ///< `whole`, ns from the start of the trace
    };
    Unit unit = Unit::None;
    QString text;
    std::int64_t whole = 0;
    double real = 0;
    QString label{}; ///< of a long `text`: what is displayed instead; empty: the text

    static TableValue ofText(QString text) { return {Unit::Text, std::move(text), 0, 0}; }
    /// The name of a slice: kernels are displayed as on the timeline, see shortKernelName().
    static TableValue ofName(QString name);
    static TableValue ofCount(std::int64_t count) { return {Unit::Count, {}, count, 0}; }
    static TableValue ofSize(QString text, std::int64_t product) { return {Unit::Size, std::move(text), product, 0}; }
    static TableValue ofTime(profiler::Nanoseconds time) { return {Unit::Time, {}, time.count(), 0}; }
    static TableValue ofPosition(profiler::Nanoseconds sinceStart)
    {
        return {Unit::Position, {}, sinceStart.count(), 0};
    }
    static TableValue ofBytes(std::int64_t bytes) { return {Unit::Bytes, {}, bytes, 0}; }
    static TableValue ofRate(double bytesPerSecond) { return {Unit::Rate, {}, 0, bytesPerSecond}; }
    static TableValue ofShare(double share) { return {Unit::Share, {}, 0, share}; }
    friend bool operator==(const TableValue&, const TableValue&) = default;
};

/// Display text: "41.2 ms", "12.345 678 901 s", "11.8 GB/s", "61.2 %".
QString shownText(const TableValue& value);
/// The same, but with the whole text of a cell that displays a label.
QString fullText(const TableValue& value);
/// Text for other programs: ns, bytes, bytes per second and shares as plain numbers.
QString exactText(const TableValue& value);
/// Order of two cells of a column: texts alphabetically as displayed, numbers by value, empty cells first.
bool comesBefore(const TableValue& a, const TableValue& b);

} // namespace app

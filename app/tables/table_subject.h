#pragma once

#include "app/tables/table_field.h"
#include "profiler/model/activity.h"

#include <QString>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace app {

/// Fields whose values the slices of a group have in common; empty: one row per slice.
using TableGrouping = std::vector<Field>;

/// The subject of a table: kinds of slices and the columns that apply to them.
struct TableSubject {
    QString key;             ///< in settings
    QString title;           ///< "Kernels"
    QString none;            ///< shown if the trace has none
    std::uint32_t kinds = 0; ///< one bit per ActivityKind; 0: the steps, which have no names
    std::vector<Field> sliceFields, groupFields;
    std::vector<Field> extra;               ///< fields that are shown only if the user chooses them
    std::vector<TableGrouping> groupings{}; ///< first: initially. One row per slice is always possible.

    [[nodiscard]] bool hasNames() const { return kinds != 0; }
    [[nodiscard]] bool holds(profiler::ActivityKind kind) const { return (kinds >> static_cast<int>(kind) & 1) != 0; }
};

constexpr std::uint32_t kindBits(std::initializer_list<profiler::ActivityKind> kinds)
{
    std::uint32_t bits = 0;
    for (const profiler::ActivityKind kind : kinds)
        bits |= std::uint32_t{1} << static_cast<int>(kind);
    return bits;
}

// Subjects of the tables at the bottom of the window.
TableSubject kernelSubject();
TableSubject opSubject();
TableSubject copySubject();
TableSubject memsetSubject();
TableSubject runtimeSubject();
TableSubject rangeSubject();
TableSubject stepSubject();

} // namespace app

#pragma once

#include "app/tables/table_field.h"
#include "profiler/model/result.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

// The language of the filters of tables and tracks: terms separated by spaces, all of which have to match.
//
//     gemm              the name contains this text; upper and lower case are the same
//     "void add<int>"   a text with spaces or punctuation
//     /^(gemm|conv)/    a regular expression
//     class:gemm,conv   the field contains one of the texts
//     name="aten::mm"   the field is exactly this
//     dur>100us         also < <= >= = !=; with the units ns us ms s min, B KB MB GB KiB MiB GiB, %
//     step:3..5,9       a range (inclusive), or several numbers
//     step:none         the field is empty
//     -memcpy           not: before any term
namespace app {

/// A property that a filter can test.
struct FilterField {
    int id = 0;
    QString keyword;
    TableValue::Unit unit = TableValue::Unit::Text;
};

/// A condition on one field of a row.
struct FilterCondition {
    /// Both ends are included.
    struct Interval {
        double least, most;
        friend bool operator==(const Interval&, const Interval&) = default;
    };

    int field = 0;
    bool negated = false;
    bool none = false;  ///< the field may be empty
    bool exact = false; ///< a text equals one of `texts`, otherwise it contains one
    QStringList texts;
    std::optional<QRegularExpression> pattern;
    std::vector<Interval> numbers; ///< one of them contains the number

    /// @param value  of a unit that fits the field
    [[nodiscard]] bool matches(const TableValue& value) const;
    [[nodiscard]] bool matchesText(const QString& text) const;
    [[nodiscard]] bool matchesNumber(double number) const;
    [[nodiscard]] bool matchesNone() const { return none != negated; }
    friend bool operator==(const FilterCondition&, const FilterCondition&) = default;
};
/// Empty: everything matches.
using Filter = std::vector<FilterCondition>;

/// @param fields  not empty; a term without a field tests the first one
/// @return the conditions, or what is wrong with the text
profiler::Result<Filter> parseFilter(const QString& text, const std::vector<FilterField>& fields);

/// A term that only this value fulfils: `name="aten::mm"`, `step=3`.
QString filterTerm(const FilterField& field, const TableValue& value);

} // namespace app

#include "app/tables/filter_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace app {

using profiler::Error;
using profiler::Result;
using Unit = TableValue::Unit;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct UnitSuffix {
    const char* suffix;
    double factor;
};

/// The units of a number field; none: a plain number.
std::vector<UnitSuffix> suffixesOf(Unit unit)
{
    switch (unit) {
    case Unit::Time:
    case Unit::Position:
        return {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
    case Unit::Bytes:
        return {{"", 1},     {"b", 1},        {"kb", 1e3},        {"mb", 1e6},
                {"gb", 1e9}, {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}};
    case Unit::Rate:
        return {{"b/s", 1}, {"kb/s", 1e3}, {"mb/s", 1e6}, {"gb/s", 1e9}, {"tb/s", 1e12}};
    case Unit::Share:
        return {{"%", 0.01}, {"", 1}};
    default:
        return {{"", 1}};
    }
}

/// An example of a number with a unit, for error messages.
const char* exampleOf(Unit unit)
{
    switch (unit) {
    case Unit::Time:
    case Unit::Position:
        return "100us";
    case Unit::Bytes:
        return "1MB";
    case Unit::Rate:
        return "10GB/s";
    case Unit::Share:
        return "50%";
    default:
        return "128";
    }
}

std::optional<double> parseNumber(const QString& text, Unit unit)
{
    static const QRegularExpression form(QStringLiteral("^(-?\\d+(?:\\.\\d+)?|-?\\.\\d+)(.*)$"));
    const auto match = form.match(text.trimmed().toLower());
    if (!match.hasMatch())
        return std::nullopt;
    const double number = match.captured(1).toDouble();
    for (const UnitSuffix& suffix : suffixesOf(unit))
        if (match.captured(2) == QString::fromUtf8(suffix.suffix))
            return number * suffix.factor;
    return number == 0 && match.captured(2).isEmpty() ? std::optional(0.0) : std::nullopt; // zero needs no unit
}

/// What a term compares with, and how it was written.
struct Value {
    QString text;
    bool quoted = false, pattern = false;
};

class Parser {
public:
    Parser(const QString& text, const std::vector<FilterField>& fields) : m_text(text), m_fields(fields) {}

    Result<Filter> parse()
    {
        Filter filter;
        for (skipSpaces(); m_at < m_text.size(); skipSpaces()) {
            auto condition = term();
            if (!condition)
                return tl::unexpected(condition.error());
            filter.push_back(std::move(*condition));
        }
        return filter;
    }

private:
    void skipSpaces()
    {
        while (m_at < m_text.size() && m_text[m_at].isSpace())
            ++m_at;
    }
    [[nodiscard]] bool endsAt(qsizetype at) const { return at >= m_text.size() || m_text[at].isSpace(); }

    Result<FilterCondition> term()
    {
        const qsizetype begin = m_at;
        FilterCondition condition;
        if (m_text[m_at] == u'-' && !endsAt(m_at + 1)) {
            condition.negated = true;
            ++m_at;
        }
        // "std::plus" contains no field.
        static const QRegularExpression form(QStringLiteral("([A-Za-z][A-Za-z-]*)(<=|>=|!=|=|<|>|:(?!:))"));
        const auto match =
            form.match(m_text, m_at, QRegularExpression::NormalMatch, QRegularExpression::AnchorAtOffsetMatchOption);
        const FilterField* field = &m_fields.front();
        QString comparison = QStringLiteral(":");
        if (match.hasMatch()) {
            const QString keyword = match.captured(1).toLower();
            const auto found = std::find_if(m_fields.begin(), m_fields.end(),
                                            [&](const FilterField& known) { return known.keyword == keyword; });
            if (found == m_fields.end())
                return unknownField(match.captured(1));
            field = &*found;
            comparison = match.captured(2);
            m_at = match.capturedEnd();
        }
        condition.field = field->id;
        auto value = readValue(*field);
        if (!value)
            return tl::unexpected(value.error());
        if (value->text.isEmpty() && !value->quoted)
            return profiler::fail<"filter.value", "a value is missing in the filter">(
                Error::Code::Malformed, m_text.mid(begin, m_at - begin).toStdString(),
                "for example " + example(*field));
        return field->unit == Unit::Text ? textCondition(std::move(condition), *field, comparison, *value)
                                         : numberCondition(std::move(condition), *field, comparison, *value);
    }

    [[nodiscard]] tl::unexpected<Error> unknownField(const QString& keyword) const
    {
        QStringList known;
        for (const FilterField& field : m_fields)
            known << field.keyword;
        return profiler::fail<"filter.field", "there is no field \"{field}\" here">(
            Error::Code::Malformed, {},
            "use one of " + known.join(QStringLiteral(", ")).toStdString() + ", or put a text in quotes",
            {{"field", keyword.toStdString()}});
    }

    static std::string example(const FilterField& field)
    {
        return field.unit == Unit::Text ? field.keyword.toStdString() + ":text"
                                        : field.keyword.toStdString() + ">" + exampleOf(field.unit);
    }

    /// Reads "a text", /a pattern/, or everything up to the next space.
    Result<Value> readValue(const FilterField& field)
    {
        Value value;
        if (m_at < m_text.size() && m_text[m_at] == u'"') {
            value.quoted = true;
            const qsizetype begin = m_at++;
            for (; m_at < m_text.size() && m_text[m_at] != u'"'; ++m_at) {
                if (m_text[m_at] == u'\\' && m_at + 1 < m_text.size() &&
                    (m_text[m_at + 1] == u'"' || m_text[m_at + 1] == u'\\'))
                    ++m_at;
                value.text += m_text[m_at];
            }
            if (m_at >= m_text.size())
                return profiler::fail<"filter.quote", "a quotation mark is missing in the filter">(
                    Error::Code::Malformed, m_text.mid(begin).toStdString(), "end the text with a quotation mark");
            ++m_at;
            return value;
        }
        if (field.unit == Unit::Text && m_at < m_text.size() && m_text[m_at] == u'/')
            for (qsizetype end = m_at + 2; end < m_text.size(); ++end)
                if (m_text[end] == u'/' && endsAt(end + 1)) {
                    value.text = m_text.mid(m_at + 1, end - m_at - 1);
                    value.pattern = true;
                    m_at = end + 1;
                    return value;
                }
        const qsizetype begin = m_at;
        while (!endsAt(m_at))
            ++m_at;
        value.text = m_text.mid(begin, m_at - begin);
        return value;
    }

    static Result<FilterCondition> textCondition(FilterCondition condition, const FilterField& field,
                                                 const QString& comparison, const Value& value)
    {
        if (comparison.startsWith(u'<') || comparison.startsWith(u'>'))
            return profiler::fail<"filter.comparison", "\"{field}\" is text and cannot be compared by size">(
                Error::Code::Malformed, {}, "use " + field.keyword.toStdString() + ":text",
                {{"field", field.keyword.toStdString()}});
        if (comparison == QStringLiteral("!="))
            condition.negated = !condition.negated;
        if (value.pattern) {
            const QRegularExpression pattern(value.text, QRegularExpression::CaseInsensitiveOption |
                                                             QRegularExpression::UseUnicodePropertiesOption);
            if (!pattern.isValid())
                return profiler::fail<"filter.pattern", "the regular expression is invalid: {problem}">(
                    Error::Code::Malformed, value.text.toStdString(), "correct it, or put it in quotes",
                    {{"problem", pattern.errorString().toStdString()}});
            pattern.optimize();
            condition.pattern = pattern;
            return condition;
        }
        condition.exact = comparison.endsWith(u'=');
        condition.none = value.text.isEmpty() || (value.text == QStringLiteral("none") && !value.quoted);
        // A name may contain commas.
        const bool several = !value.quoted && field.keyword != QStringLiteral("name");
        condition.texts = several ? value.text.split(u',', Qt::SkipEmptyParts) : QStringList{value.text};
        return condition;
    }

    static Result<FilterCondition> numberCondition(FilterCondition condition, const FilterField& field,
                                                   const QString& comparison, const Value& value)
    {
        const auto wrong = [&](const QString& part) {
            return profiler::fail<"filter.number", "\"{value}\" is not a value of \"{field}\"">(
                Error::Code::Malformed, {}, "for example " + example(field),
                {{"value", part.toStdString()}, {"field", field.keyword.toStdString()}});
        };
        if (comparison == QStringLiteral("!="))
            condition.negated = !condition.negated;
        if (comparison.startsWith(u'<') || comparison.startsWith(u'>')) {
            const auto limit = parseNumber(value.text, field.unit);
            if (!limit)
                return wrong(value.text);
            const bool below = comparison.startsWith(u'<');
            const double own =
                comparison.endsWith(u'=') ? *limit : std::nextafter(*limit, below ? -kInfinity : kInfinity);
            condition.numbers = {below ? FilterCondition::Interval{-kInfinity, own}
                                       : FilterCondition::Interval{own, kInfinity}};
            return condition;
        }
        for (const QString& part : value.text.split(u',')) {
            if (part == QStringLiteral("none")) {
                condition.none = true;
                continue;
            }
            const qsizetype dots = part.indexOf(QStringLiteral(".."));
            const auto least = parseNumber(dots < 0 ? part : part.left(dots), field.unit);
            const auto most = dots < 0 ? least : parseNumber(part.mid(dots + 2), field.unit);
            if (!least || !most)
                return wrong(part);
            condition.numbers.push_back({*least, *most});
        }
        return condition;
    }

    const QString& m_text;
    const std::vector<FilterField>& m_fields;
    qsizetype m_at = 0;
};

/// The shortest number that is read as the same value.
QString exactNumber(const TableValue& value)
{
    switch (value.unit) {
    case Unit::Rate:
        return QString::number(value.real, 'g', 17) + QStringLiteral("B/s");
    case Unit::Share:
        return QString::number(value.real, 'g', 17);
    case Unit::Time:
    case Unit::Position:
        return QString::number(value.whole) + QStringLiteral("ns");
    case Unit::Text:
        return value.text;
    default:
        return QString::number(value.whole);
    }
}

} // namespace

bool FilterCondition::matchesText(const QString& text) const
{
    const bool found =
        pattern ? pattern->match(text).hasMatch() : std::any_of(texts.begin(), texts.end(), [&](const QString& wanted) {
            return exact ? text == wanted : text.contains(wanted, Qt::CaseInsensitive);
        });
    return found != negated;
}

bool FilterCondition::matchesNumber(double number) const
{
    const bool found = std::any_of(numbers.begin(), numbers.end(), [&](const Interval& interval) {
        return number >= interval.least && number <= interval.most;
    });
    return found != negated;
}

bool FilterCondition::matches(const TableValue& value) const
{
    switch (value.unit) {
    case Unit::None:
        return matchesNone();
    case Unit::Text:
        return numbers.empty() ? matchesText(value.text) : matchesNumber(value.text.toDouble());
    case Unit::Rate:
    case Unit::Share:
        return matchesNumber(value.real);
    default:
        return matchesNumber(static_cast<double>(value.whole));
    }
}

Result<Filter> parseFilter(const QString& text, const std::vector<FilterField>& fields)
{
    return Parser(text, fields).parse();
}

QString filterTerm(const FilterField& field, const TableValue& value)
{
    if (value.unit == Unit::None)
        return field.keyword + QStringLiteral("=none");
    if (field.unit != Unit::Text)
        return field.keyword + u'=' + exactNumber(value);
    QString text = value.text;
    text.replace(u'\\', QStringLiteral("\\\\")).replace(u'"', QStringLiteral("\\\""));
    return QStringLiteral("%1=\"%2\"").arg(field.keyword, text);
}

} // namespace app

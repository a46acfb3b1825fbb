#include "advisor/report/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace advisor::svg {

namespace {

constexpr double kWidth = 760, kHeight = 220, kLeft = 64, kBottom = 26, kTop = 10;
// The colours of Okabe and Ito, which remain distinguishable with colour vision deficiency.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#e69f00",
                                                      "#56b4e9", "#cc79a7", "#777777", "#f0e442"};

struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void add(double value)
    {
        if (!std::isfinite(value))
            return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    [[nodiscard]] bool empty() const { return low > high; }
};

/// Points of a line: the minimum and maximum of each pixel if there are more values than pixels.
std::string points(const std::vector<double>& values, const Range& range)
{
    const double plot = kWidth - kLeft - 8, height = kHeight - kTop - kBottom;
    const std::size_t n = values.size();
    const auto columns = static_cast<std::size_t>(plot / 2);
    const auto place = [&](std::size_t i, double value) {
        const double x = kLeft + (n > 1 ? plot * static_cast<double>(i) / static_cast<double>(n - 1) : plot / 2);
        return fmt::format("{:.1f},{:.1f} ", x, kTop + height * (range.high - value) / (range.high - range.low));
    };
    std::string text;
    const std::size_t bucket = std::max<std::size_t>(1, n / columns);
    for (std::size_t i = 0; i < n; i += bucket) {
        Range span;
        for (std::size_t j = i; j < std::min(n, i + bucket); ++j)
            span.add(values[j]);
        if (span.empty())
            continue;
        text += place(i, span.low);
        if (span.high > span.low)
            text += place(i, span.high);
    }
    return text;
}

/// The start tag of each drawing. Colours are attributes, not classes, so that no style sheet is needed.
std::string head(double height)
{
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
                       "font-family=\"sans-serif\" font-size=\"11\" fill=\"currentColor\">",
                       kWidth, height);
}

} // namespace

std::string escaped(std::string_view text)
{
    std::string result;
    for (const char ch : text) {
        const auto byte = static_cast<unsigned char>(ch);
        switch (ch) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default:
            if (byte < 0x20 && ch != '\n' && ch != '\t')
                result += "\xef\xbf\xbd";
            else
                result += ch;
        }
    }
    return result;
}

Chart lines(const std::vector<Series>& series, std::string_view unit, bool fromZero)
{
    Range range;
    std::size_t longest = 0;
    for (const Series& row : series) {
        longest = std::max(longest, row.values.size());
        for (const double value : row.values)
            range.add(value);
    }
    if (range.empty())
        return {};
    if (fromZero)
        range.add(0);
    if (range.high == range.low)
        range.high = range.low + 1;
    std::string svg = head(kHeight);
    const double height = kHeight - kTop - kBottom;
    for (int i = 0; i <= 4; ++i) {
        const double y = kTop + height * i / 4, value = range.high - (range.high - range.low) * i / 4;
        svg += fmt::format("<line stroke=\"#888888\" stroke-opacity=\"0.4\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" "
                           "y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g} {}</text>",
                           kLeft, kWidth - 8, y, y, kLeft - 6, y + 4, value, escaped(unit));
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\">1</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLeft,
                       kHeight - 8, kWidth - 8, kHeight - 8, longest);
    Chart chart;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const std::string_view colour = kColours[i % kColours.size()];
        svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"{}\"/>", colour,
                           points(series[i].values, range));
        if (series.size() > 1)
            chart.legend.push_back({std::string(colour), series[i].name});
    }
    chart.svg = svg + "</svg>";
    return chart;
}

Chart shares(const std::vector<Share>& parts)
{
    double all = 0;
    for (const Share& part : parts)
        all += std::max(0.0, part.share);
    if (!(all > 0))
        return {};
    Chart chart{head(34), {}};
    double x = 0;
    for (const Share& part : parts) {
        const double width = kWidth * std::max(0.0, part.share) / all;
        chart.svg += fmt::format("<rect x=\"{:.2f}\" y=\"2\" width=\"{:.2f}\" height=\"30\" fill=\"{}\"/>", x, width,
                                 part.colour);
        chart.legend.push_back(
            {std::string(part.colour), fmt::format("{} {:.1f} %", part.name, 100 * part.share / all)});
        x += width;
    }
    chart.svg += "</svg>";
    return chart;
}

} // namespace advisor::svg

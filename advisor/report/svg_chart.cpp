#include "advisor/report/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace advisor::svg {

namespace {

constexpr double kWidth = 760, kHeight = 220, kLeft = 64, kBottom = 26, kTop = 10;
// Okabe and Ito's colours: told apart by those who see fewer.
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

/// Points of a line: each pixel's least and largest value where there are more values than pixels.
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

std::string legend(const std::vector<std::string>& names)
{
    std::string text = "<div class=\"legend\">";
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format("<span><i style=\"background:{}\"></i>{}</span>", kColours[i % kColours.size()],
                            escaped(names[i]));
    return text + "</div>";
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

std::string lines(const std::vector<Series>& series, std::string_view unit, bool fromZero)
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
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">", kWidth, kHeight);
    const double height = kHeight - kTop - kBottom;
    for (int i = 0; i <= 4; ++i) {
        const double y = kTop + height * i / 4, value = range.high - (range.high - range.low) * i / 4;
        svg += fmt::format(
            "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
            "text-anchor=\"end\">{:.3g} {}</text>",
            kLeft, kWidth - 8, y, y, kLeft - 6, y + 4, value, escaped(unit));
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\">1</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLeft,
                       kHeight - 8, kWidth - 8, kHeight - 8, longest);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < series.size(); ++i) {
        svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"{}\"/>", kColours[i % kColours.size()],
                           points(series[i].values, range));
        names.push_back(series[i].name);
    }
    return svg + "</svg>" + (series.size() > 1 ? legend(names) : std::string());
}

std::string shares(const std::vector<std::pair<std::string, double>>& parts)
{
    double all = 0;
    for (const auto& [name, share] : parts)
        all += std::max(0.0, share);
    if (!(all > 0))
        return {};
    std::string svg = fmt::format("<svg viewBox=\"0 0 {} 34\" role=\"img\">", kWidth);
    std::vector<std::string> names;
    double x = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double width = kWidth * std::max(0.0, parts[i].second) / all;
        svg += fmt::format("<rect x=\"{:.2f}\" y=\"2\" width=\"{:.2f}\" height=\"30\" fill=\"{}\"/>", x, width,
                           kColours[i % kColours.size()]);
        names.push_back(fmt::format("{} {:.1f} %", parts[i].first, 100 * parts[i].second / all));
        x += width;
    }
    return svg + "</svg>" + legend(names);
}

} // namespace advisor::svg

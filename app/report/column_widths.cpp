#include "app/report/column_widths.h"

#include <algorithm>
#include <numeric>

namespace app {

namespace {

double sum(const std::vector<ColumnNeed>& needs, double ColumnNeed::*what)
{
    return std::accumulate(needs.begin(), needs.end(), 0.0,
                           [&](double all, const ColumnNeed& need) { return all + need.*what; });
}

/// The width to which the widest words are reduced so that all columns fit.
double commonWidth(const std::vector<ColumnNeed>& needs, double room)
{
    std::vector<double> words;
    for (const ColumnNeed& need : needs)
        words.push_back(need.word);
    std::sort(words.begin(), words.end());
    double left = room;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const double share = left / static_cast<double>(words.size() - i);
        if (words[i] > share)
            return share;
        left -= words[i];
    }
    return words.empty() ? 0 : words.back();
}

} // namespace

bool wordsFit(const std::vector<ColumnNeed>& needs, double room)
{
    return sum(needs, &ColumnNeed::word) <= room;
}

std::vector<double> columnWidths(const std::vector<ColumnNeed>& needs, double room)
{
    const double most = commonWidth(needs, room);
    std::vector<double> widths;
    for (const ColumnNeed& need : needs)
        widths.push_back(std::min(need.word, most));
    const double words = std::accumulate(widths.begin(), widths.end(), 0.0);
    double wished = 0;
    for (std::size_t i = 0; i < needs.size(); ++i)
        wished += std::max(0.0, needs[i].line - widths[i]);
    const double share = wished > 0 ? std::min(1.0, (room - words) / wished) : 0;
    for (std::size_t i = 0; i < needs.size(); ++i)
        widths[i] += share * std::max(0.0, needs[i].line - widths[i]);
    double grown = 0;
    for (const ColumnNeed& need : needs)
        grown += need.grows ? std::max(1.0, need.line) : 0;
    const double left = room - std::accumulate(widths.begin(), widths.end(), 0.0);
    if (left > 0 && grown > 0)
        for (std::size_t i = 0; i < needs.size(); ++i)
            widths[i] += needs[i].grows ? left * std::max(1.0, needs[i].line) / grown : 0;
    return widths;
}

} // namespace app

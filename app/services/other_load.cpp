#include "app/services/other_load.h"

#include <QByteArray>
#include <QFile>
#include <QList>
#include <algorithm>

namespace app {

namespace {

QByteArray kernelFile(const char* path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

OtherLoad::OtherLoad() : m_before(read()) {}

std::optional<OtherLoad::Ticks> OtherLoad::read()
{
    // "cpu  user nice system idle iowait irq softirq steal …": the first line is the sum of all cores.
    const QByteArray machine = kernelFile("/proc/stat");
    const QList<QByteArray> fields = machine.left(machine.indexOf('\n')).simplified().split(' ');
    // The process name may contain spaces and parentheses, so the fields start after the last closing one.
    const QByteArray own = kernelFile("/proc/self/stat");
    const QList<QByteArray> ownFields = own.mid(own.lastIndexOf(')') + 2).split(' ');
    constexpr qsizetype kIdle = 4, kIoWait = 5, kSteal = 8;       // in /proc/stat, after "cpu"
    constexpr qsizetype kUserTime = 11, kChildrenSystemTime = 14; // in /proc/self/stat, after the name: utime … cstime
    if (fields.size() <= kSteal || fields[0] != "cpu" || ownFields.size() <= kChildrenSystemTime)
        return std::nullopt;
    Ticks ticks;
    for (qsizetype i = 1; i <= kSteal; ++i) {
        const std::int64_t value = fields[i].toLongLong();
        ticks.all += value;
        if (i != kIdle && i != kIoWait)
            ticks.busy += value;
    }
    for (qsizetype i = kUserTime; i <= kChildrenSystemTime; ++i)
        ticks.own += ownFields[i].toLongLong();
    return ticks;
}

std::optional<double> OtherLoad::share() const
{
    const auto now = read();
    if (!m_before || !now || now->all <= m_before->all)
        return std::nullopt;
    const std::int64_t others = (now->busy - m_before->busy) - (now->own - m_before->own);
    return std::clamp(static_cast<double>(others) / static_cast<double>(now->all - m_before->all), 0.0, 1.0);
}

} // namespace app

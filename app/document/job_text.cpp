#include "app/document/job_text.h"

#include "app/look/qstring.h"

#include <QCoreApplication>
#include <QStringList>

namespace app {

using profiler::analysis::CollectiveKind;
using profiler::analysis::GroupRole;
using profiler::analysis::Straggler;
using profiler::analysis::StragglerCause;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobTexts)
};

constexpr std::size_t kMostSteps = 6; ///< parts of the list of steps in scopeText()

} // namespace

QString formatNumbers(std::span<const std::int64_t> numbers, std::size_t mostParts)
{
    QStringList parts;
    for (std::size_t i = 0; i < numbers.size();) {
        if (static_cast<std::size_t>(parts.size()) == mostParts)
            return Texts::tr("%1 and %2 more").arg(parts.join(QStringLiteral(", "))).arg(numbers.size() - i);
        std::size_t next = i + 1;
        while (next < numbers.size() && numbers[next] == numbers[next - 1] + 1)
            ++next;
        if (next - i > 2) {
            parts << QStringLiteral("%1–%2").arg(numbers[i]).arg(numbers[next - 1]);
            i = next;
        } else {
            parts << QString::number(numbers[i++]);
        }
    }
    return parts.join(QStringLiteral(", "));
}

QString causeText(StragglerCause cause)
{
    switch (cause) {
    case StragglerCause::SlowCompute:
        return Texts::tr("slow kernels");
    case StragglerCause::Throttling:
        return Texts::tr("clock throttling");
    case StragglerCause::SlowHost:
        return Texts::tr("slow host");
    case StragglerCause::SlowLoader:
        return Texts::tr("slow loader");
    case StragglerCause::GarbageCollection:
        return Texts::tr("garbage collection");
    case StragglerCause::SlowCopy:
        return Texts::tr("slow copies");
    case StragglerCause::SlowLink:
        return Texts::tr("slow link");
    case StragglerCause::Unknown:
        break;
    }
    return Texts::tr("unknown");
}

QString scopeText(const profiler::job::Job& job, const Straggler& straggler)
{
    QString text = straggler.always ? Texts::tr("every step")
                   : straggler.steps.size() == 1
                       ? Texts::tr("step %1").arg(straggler.steps.front())
                       : Texts::tr("steps %1").arg(formatNumbers(straggler.steps, kMostSteps));
    if (straggler.wholeHost)
        text = Texts::tr("%1, all ranks of %2").arg(text, asQString(job.ranks[straggler.rank].host));
    return text;
}

QString groupRoleText(GroupRole role)
{
    switch (role) {
    case GroupRole::Data:
        return Texts::tr("data parallel");
    case GroupRole::Tensor:
        return Texts::tr("tensor parallel");
    case GroupRole::Pipeline:
        return Texts::tr("pipeline parallel");
    case GroupRole::Expert:
        return Texts::tr("expert parallel");
    case GroupRole::Unknown:
        break;
    }
    return Texts::tr("unknown");
}

QString collectiveText(CollectiveKind kind)
{
    return asQString(profiler::analysis::collectiveName(kind)).replace('_', '-');
}

} // namespace app

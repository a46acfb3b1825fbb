#include "profiler/model/result.h"

namespace profiler {

std::string Error::message() const
{
    std::string text = what.text;
    if (!where.empty())
        text += " (" + where + ")";
    if (!mend.empty())
        text += ": " + mend;
    return text;
}

Message Error::asMessage() const
{
    return {what.id, what.parameters, message()};
}

} // namespace profiler

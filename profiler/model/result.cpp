#include "profiler/model/result.h"

namespace profiler {

std::string Error::message() const
{
    std::string text = what.text;
    if (text.ends_with('.') && (!where.empty() || !mend.empty())) // the sentence goes on
        text.pop_back();
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

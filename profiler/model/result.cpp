#include "profiler/model/result.h"

namespace profiler {

std::string Error::message() const
{
    std::string text = what.text;
    if (text.ends_with('.') && (!where.empty() || !hint.empty())) // the sentence continues
        text.pop_back();
    if (!where.empty())
        text += " (" + where + ")";
    if (!hint.empty())
        text += ": " + hint;
    return text;
}

Message Error::asMessage() const
{
    return {what.id, what.parameters, message()};
}

} // namespace profiler

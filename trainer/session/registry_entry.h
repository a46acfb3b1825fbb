#pragma once

#include "profiler/model/registered.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace trainer {

/// The registry entry that a knob names. Throws std::logic_error if the knob table names an entry that does not exist.
template <class Entry>
Entry registered(const std::vector<profiler::Registered<Entry>>& all, const std::string& id)
{
    for (const auto& [stem, entry] : all)
        if (stem == id)
            return entry;
    throw std::logic_error("no file defines '" + id + "'");
}

} // namespace trainer

#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

namespace advisor {

/// An error in a configuration, with its id, and with the key, the value and the allowed values as parameters.
inline profiler::Error configError(profiler::Error::Code code, const config::ConfigError& error)
{
    return {code,
            {error.id,
             {{"key", error.key}, {"value", error.value}, {"allowed", error.allowed}, {"where", error.where}},
             error.message()},
            {},
            {}};
}

} // namespace advisor

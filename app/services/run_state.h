#pragma once

namespace app {

/// State of the training that the app started.
enum class RunState { Idle, Starting, Running, Paused, Stopping };

} // namespace app

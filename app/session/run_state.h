#pragma once

namespace app {

/// What the training that the app started is doing.
enum class RunState { Idle, Starting, Running, Paused, Stopping };

} // namespace app

#pragma once

#include "profiler/model/activity.h"

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trainer {

/// Appends the sizes of an operator's inputs in the format of the PyTorch profiler: "[[32, 3, 224, 224], [], [[4],
/// [4]]]". Inputs that are not tensors appear as "[]". Only reads metadata; the tensors may be on any device.
void appendInputShapes(std::string& text, const at::RecordFunction& function);
/// Appends their types: "[float, Scalar, TensorList]"; "" for other inputs.
void appendInputTypes(std::string& text, const at::RecordFunction& function);

/// Information from LibTorch about an operator at its start.
struct OpBegin {
    const char* name; ///< may be a temporary: intern it by content
    std::int64_t sequence;
    profiler::ActivityKind kind; ///< CpuOp; UserAnnotation for a range named by the program
    bool backward;
    bool async;        ///< it may end on another thread, like a collective call
    const void* owner; ///< identifies the operator at its end: any operator may end on another thread
};

/// LibTorch's operator callbacks, which forward operators to a sink: used to record both the trainer's operators and
/// those of Python's LibTorch. The callbacks are plain functions, so a sink's data is global.
/// @tparam Sink  `static void begin(const OpBegin&)`, `static void begin(const OpBegin&, const std::string& shapes,
///               const std::string& types)` and `static void end(const void* owner)`, called on the thread where the
///               operator begins or ends
template <class Sink>
class OpCallbacks {
public:
    /// The argument for at::addGlobalCallback.
    /// @param shapes  with the sizes and types of the inputs, which costs two strings per operator
    static at::RecordFunctionCallback make(bool shapes)
    {
        return at::RecordFunctionCallback(shapes ? beginWithShapes : begin, end).needsInputs(shapes);
    }

private:
    static OpBegin described(const at::RecordFunction& function)
    {
        const at::RecordScope scope = function.scope();
        const bool user = scope == at::RecordScope::USER_SCOPE;
        return {.name = function.name(),
                .sequence = function.seqNr(),
                .kind = user ? profiler::ActivityKind::UserAnnotation : profiler::ActivityKind::CpuOp,
                .backward = scope == at::RecordScope::BACKWARD_FUNCTION,
                .async = user && function.isAsync(), // false for all others, because the query is a call into LibTorch
                .owner = &function};
    }
    static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function)
    {
        Sink::begin(described(function));
        return nullptr;
    }
    static std::unique_ptr<at::ObserverContext> beginWithShapes(const at::RecordFunction& function)
    {
        thread_local std::string shapes, types; // reused, so that they keep their memory
        shapes.clear();
        types.clear();
        appendInputShapes(shapes, function);
        appendInputTypes(types, function);
        Sink::begin(described(function), shapes, types);
        return nullptr;
    }
    static void end(const at::RecordFunction& function, at::ObserverContext*) { Sink::end(&function); }
};

} // namespace trainer

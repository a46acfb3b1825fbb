#include "trainer/hooks/op_callbacks.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <charconv>
#include <iterator>

namespace trainer {

namespace {

// The rest of a longer list (from a foreach optimizer) adds no information.
constexpr std::size_t kMostOfAList = 16;

void appendNumber(std::string& text, std::int64_t number)
{
    char digits[24];
    text.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

void appendSizes(std::string& text, const at::Tensor& tensor)
{
    text += '[';
    // A nested tensor has no sizes.
    if (tensor.defined() && !tensor.is_nested()) {
        bool first = true;
        for (const std::int64_t size : tensor.sizes()) {
            if (!first)
                text += ", ";
            first = false;
            appendNumber(text, size);
        }
    }
    text += ']';
}

void appendList(std::string& text, const c10::List<at::Tensor>& list)
{
    text += '[';
    for (std::size_t i = 0; i < list.size() && i < kMostOfAList; ++i) {
        if (i > 0)
            text += ", ";
        appendSizes(text, list.get(i));
    }
    if (list.size() > kMostOfAList)
        text += ", …";
    text += ']';
}

} // namespace

void appendInputShapes(std::string& text, const at::RecordFunction& function)
{
    text += '[';
    bool first = true;
    for (const c10::IValue& input : function.inputs()) {
        if (!first)
            text += ", ";
        first = false;
        if (input.isTensor())
            appendSizes(text, input.toTensor());
        else if (input.isTensorList())
            appendList(text, input.toTensorList());
        else
            text += "[]";
    }
    text += ']';
}

void appendInputTypes(std::string& text, const at::RecordFunction& function)
{
    text += '[';
    bool first = true;
    for (const c10::IValue& input : function.inputs()) {
        if (!first)
            text += ", ";
        first = false;
        if (input.isTensor() && input.toTensor().defined()) {
            const auto name = input.toTensor().dtype().name(); // of another type before 2.9
            text.append(name.data(), name.size());
        } else if (input.isTensorList())
            text += "TensorList";
        else if (input.isScalar())
            text += "Scalar";
    }
    text += ']';
}

} // namespace trainer

// Precompiled for the rules and what they share.
#pragma once

#include "advisor/numbers.h"
#include "advisor/rule.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "packaging/cmake/std_headers.h"

#include <fmt/format.h>

#pragma once
// A thread for each learner, and what becomes of their failures.

#include <functional>

#include "training/first_failure.hpp"

namespace crossbow {

/// Run `body(j)`, which throws nothing, for each learner j in a thread of its own; block
/// until all have ended, and throw what is in `failure` by then. Where the system gives
/// no thread to one, that is the failure (NoThread), and `abort` is to make the others
/// end.
void run_learner_threads(int learners,
                         const std::function<void(int)>& body,
                         const std::function<void()>& abort,
                         FirstFailure& failure);

}  // namespace crossbow

// What the user or the scheduler asked this process by signal. A handler only sets a flag; who
// works asks for it. SIGUSR1: 85; the signals that end it, SIGHUP, SIGINT, SIGQUIT and SIGTERM: 128
// and their number (the exit codes). SIGUSR2 does nothing. Knows no run.
#pragma once

#include "kdgat/error.h"

namespace kdgat {

/// A terminal that was closed, and Ctrl-\. They end what works as SIGTERM does.
inline constexpr ExitCode kHungUp{129}, kQuit{131};

/// Until install_signal_flags(): a signal that ends this process does so at once, with 128 and its
/// number, also while it waits for a file that the user named. One that was ignored when the
/// process was started, as nohup does, stays so.
void end_at_once_on_signals();

/// Catches these signals, and ignores SIGPIPE and SIGXFSZ, from now on. SIGHUP and SIGQUIT that
/// were ignored when the process was started stay so.
void install_signal_flags();

/// 0, or the exit code asked for. A later signal that ends the process replaces a SIGUSR1.
int pending_signal();

/// Whether a SIGINT or SIGQUIT came after a signal that ends the process: stop at once. A SIGTERM
/// may come twice from a scheduler that sends it to every process of a job, one of which passes it
/// on.
bool is_urgent();

/// Whether a process that ended with this code was asked to by one of these signals.
bool is_stop_code(int code);
/// The signal that asks for such a code.
int signal_of_stop_code(int code);

/// Forgets what came; for tests.
void reset_signal_flags();

}  // namespace kdgat

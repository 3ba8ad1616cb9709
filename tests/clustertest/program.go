//go:build unix

package clustertest

import (
	"context"
	"errors"
	"fmt"
)

// program stands in for the test that a cluster belongs to.
type program struct {
	ctx      context.Context
	cleanups []func()
}

// failure is what Fatal panics with.
type failure struct{ error }

// Run is for programs that are no tests. It runs main until it returns or fails, and then ends what
// main has started, in reverse.
func Run(ctx context.Context, main func(T)) (err error) {
	t := &program{ctx: ctx}
	defer func() {
		for i := len(t.cleanups) - 1; i >= 0; i-- {
			t.cleanups[i]()
		}
	}()
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed.error
		default:
			panic(failed)
		}
	}()
	main(t)
	return nil
}

// Helper does nothing: a failure has no line of a test.
func (*program) Helper() {}

// Context ends with Ctrl-C.
func (t *program) Context() context.Context { return t.ctx }

// Cleanup has f run at the end, those that came last first.
func (t *program) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Skipf fails: the program cannot do without what is missing.
func (t *program) Skipf(format string, args ...any) { t.Fatalf(format, args...) }

// Fatal ends the program.
func (*program) Fatal(args ...any) { panic(failure{errors.New(fmt.Sprint(args...))}) }

// Fatalf ends the program.
func (*program) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

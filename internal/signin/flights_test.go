package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"
)

func TestAFaultEndsOneQuestionOnly(t *testing.T) {
	s := NewFlights()
	of, fresh := sha256.Sum256([]byte("token")), func(Result) bool { return false }
	if _, err := s.do(t.Context(), time.Now, of, fresh, func(context.Context) (Result, error) { panic("a fault") }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if got, err := s.do(t.Context(), time.Now, of, fresh, func(context.Context) (Result, error) { return Result{Refresh: "next"}, nil }); err != nil || got.Refresh != "next" {
		t.Errorf("it is not asked once more: %+v, %v", got, err)
	}
}

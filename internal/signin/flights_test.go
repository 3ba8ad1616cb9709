package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"
)

func TestAFaultEndsOneQuestionOnly(t *testing.T) {
	s := newFlights(time.Now)
	of := sha256.Sum256([]byte("token"))
	if _, err := s.do(t.Context(), of, func(context.Context) (Result, error) { panic("a fault") }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if got, err := s.do(t.Context(), of, func(context.Context) (Result, error) { return Result{Refresh: "next"}, nil }); err != nil || got.Refresh != "next" {
		t.Errorf("it is not asked once more: %+v, %v", got, err)
	}
}

package report

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// A client that leaves while its key is read is no failure of the ledger, for which an operator must act.
func TestAClientThatLeftIsNoFailureOfTheLedger(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	interrupted := errors.New("interrupted")
	if e := apierror.From(LedgerFailure(ctx, interrupted)); e.Code != apierror.LedgerUnavailable || !errors.Is(e.Cause, interrupted) {
		t.Errorf("%+v", e)
	}
	leave()
	if e := apierror.From(LedgerFailure(ctx, interrupted)); e.Code != apierror.ClientGone {
		t.Errorf("after the client left: %+v", e)
	}
}

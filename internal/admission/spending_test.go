package admission

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

func TestAReservationNamesItsOwner(t *testing.T) {
	s := SpendingOf(nil, &request.Request{Outcome: request.Outcome{Record: &activity.Record{RequestID: "req_1", Tenant: "default", Key: "dev"}}}, nil)
	request, tenant, key := ParseReservationID(s.reservationID())
	if request != "req_1" || tenant != "default" || key != "dev" {
		t.Errorf("%s, %s, %s", request, tenant, key)
	}
}

// hanging is a ledger whose engine does not answer.
type hanging struct{ limits.Ledger }

func (hanging) Status(ctx context.Context, _ time.Time, _ []limits.Subject) ([]limits.Balance, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestACallDoesNotWaitForABudgetThatIsOnlyShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &request.Request{Caller: request.Caller{Credential: keys.Credential{Key: &keys.Key{Name: "dev"}}}}
		s, begun := SpendingOf(&Deps{Ledger: hanging{}}, q, &policy.KeyLimits{}), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if shown := s.fullest(ctx); shown != nil || time.Since(begun) != shownTimeout {
			t.Errorf("%v after %v", shown, time.Since(begun))
		}
	})
}

package admission

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

func TestAReservationNamesItsOwner(t *testing.T) {
	s := SpendingOf(nil, &request.Request{Outcome: request.Outcome{Record: &activity.Record{RequestID: "req_1", Tenant: "default", Key: "dev"}}}, nil)
	request, tenant, key := ParseReservationID(s.reservationID())
	if request != "req_1" || tenant != "default" || key != "dev" {
		t.Errorf("%s, %s, %s", request, tenant, key)
	}
}

package modelcall

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func TestReadObjectReadsEachMemberOnce(t *testing.T) {
	for _, c := range []struct {
		name, body, read string
		keyLimit         int64
		code             apierror.Code
		text, param      string
	}{
		{name: "no body"},
		{name: "white space", body: " \n"},
		{name: "members", body: `{"a":1, "b" : null}`, read: "a=1 b=null "},
		{name: "read refuses", body: `{"a":1,"bad":2}`, read: "a=1 ", code: apierror.InvalidValue, text: "bad"},
		{name: "a key twice", body: `{"a":1,"a":2}`, code: apierror.InvalidJSON, text: `not acceptable JSON`, param: "a"},
		{name: "no object", body: `[]`, code: apierror.InvalidJSON, text: "not acceptable JSON"},
		{name: "too large", body: `{"a":` + strings.Repeat(" ", 100) + `1}`, code: apierror.RequestTooLarge, text: "107 bytes or more; the limit is 100 bytes"},
		{name: "too large for the key", keyLimit: 64, body: `{"a":` + strings.Repeat(" ", 70) + `1}`, code: apierror.RequestTooLarge, text: "the limit is 64 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, roundTrip(silent), limited(&policy.KeyLimits{Caps: policy.Caps{Body: c.keyLimit}}))
			q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(c.body), int64(len(c.body))))
			read := ""
			err := q.ReadObject(100, func(name string, value []byte) error {
				if name == "bad" {
					return apierror.New(apierror.InvalidValue, "bad")
				}
				read += name + "=" + string(value) + " "
				return nil
			})
			if read != c.read {
				t.Errorf("read %q", read)
			}
			var refusal *apierror.Error
			switch errors.As(err, &refusal); {
			case c.code == "" && err != nil:
				t.Error(err)
			case c.code != "" && (refusal == nil || refusal.Code != c.code || !strings.Contains(refusal.Message, c.text) || refusal.Param != c.param):
				t.Errorf("%+v, want %s with %q", err, c.code, c.text)
			}
			q.Outcome.Succeed(200)
			if q.Finish(); r.memory.Used() != 0 {
				t.Errorf("%d bytes were not given back", r.memory.Used())
			}
		})
	}
}

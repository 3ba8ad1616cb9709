package activity

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// UnmarshalJSON sets the fields of a record that an answer of GET /api/v1/activity has.
func (r *Record) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for i := range Fields {
		f := &Fields[i]
		if value, ok := members[f.Name]; ok {
			if err := f.unmarshal(r, value); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// unmarshal sets one field.
func (f *Field) unmarshal(r *Record, value []byte) (err error) {
	switch v := f.Of(r).(type) {
	case *time.Duration:
		if *v, err = fromMilliseconds(value); string(value) == "0" && f.Form.Has(OrNull) {
			*v = 1 // less than a millisecond: without one it were null
		}
		return err
	case *int64:
		if f.Form.Has(Money) {
			var usd float64
			err = json.Unmarshal(value, &usd)
			*v = int64(math.Round(usd * 1e9))
			return err
		}
	}
	return json.Unmarshal(value, f.Of(r))
}

// fromMilliseconds is a duration in milliseconds, or 0 for null.
func fromMilliseconds(value []byte) (time.Duration, error) {
	var ms float64
	err := json.Unmarshal(value, &ms)
	return time.Duration(math.Round(ms*1000)) * time.Microsecond, err
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Attempt) UnmarshalJSON(data []byte) (err error) {
	var members struct {
		Target  string
		Status  int
		Code    string
		Latency json.RawMessage `json:"latency_ms"`
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*a = Attempt{Target: members.Target, Status: members.Status, Code: members.Code}
	a.Latency, err = fromMilliseconds(members.Latency)
	return err
}

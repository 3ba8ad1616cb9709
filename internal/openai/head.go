package openai

import (
	"bytes"
	"math"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// setHead puts the members in place that say what this object is.
func (c *chat) setHead(p *jsonscan.Patch, t top, data []byte) {
	set := func(i int, key string, value []byte) {
		switch {
		case i < 0:
			p.Add(key, value)
		case !bytes.Equal(c.members[AtTop][i].Value(data), value):
			p.Set(i, value)
		}
	}
	c.learnHead(t, data)
	set(t.id, "id", c.id)
	set(t.object, "object", c.object)
	if t.created < 0 || !isDigits(c.members[AtTop][t.created].Value(data)) {
		set(t.created, "created", c.created)
	}
	set(t.model, "model", c.model)
	if len(c.provider) > 0 {
		set(t.provider, "provider", c.provider)
	}
}

// learnHead takes id and time from the first chunk that has them.
func (c *chat) learnHead(t top, data []byte) {
	if t.id >= 0 && c.sum.UpstreamID == "" {
		value := c.members[AtTop][t.id].Value(data)
		if id, ok := jsonscan.String(value); ok && id != "" && len(value) <= maxID {
			c.sum.UpstreamID = id
			if len(c.id) == 0 {
				c.id = append(c.id, value...)
			}
		}
	}
	if len(c.id) == 0 {
		c.id = jsonscan.AppendString(c.id, c.call.ID)
	}
	if len(c.created) == 0 {
		created := c.call.Created
		if t.created >= 0 {
			created = unixSeconds(c.members[AtTop][t.created].Value(data), created)
		}
		c.created = strconv.AppendInt(c.created, created, 10)
	}
}

// isDigits tells whether value is an integer as every JSON reader takes it.
func isDigits(value []byte) bool {
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0 && len(value) <= 12
}

// unixSeconds reads a time that a provider may have written as a float.
func unixSeconds(value []byte, otherwise int64) int64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f < 0 || f > math.MaxInt32*1000. {
		return otherwise
	}
	return int64(f)
}

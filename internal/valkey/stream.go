package valkey

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	engine "github.com/valkey-io/valkey-go"
)

const (
	// blockTime is how long the server keeps a question for new entries. A connection that is broken
	// is noticed after it, and answerTime.
	blockTime  = 2 * time.Second
	answerTime = time.Second
	// mostEntries is how many entries are read at once.
	mostEntries = "100"
	// followPause is between two attempts to follow a stream.
	followPause = 250 * time.Millisecond
)

// Follow calls f with the fields of each entry of a stream behind the one whose ID is after, until ctx
// ends; "" is the newest one. It has a connection of its own. Entries are missed when the stream was
// trimmed, or the server has lost it.
func (c *Client) Follow(ctx context.Context, key, after string, f func(fields map[string]string)) {
	for ctx.Err() == nil {
		client, err := c.connected(ctx)
		if err == nil {
			after, err = follow(ctx, client, key, after, f)
		}
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(followPause):
		}
	}
}

// follow reads until there is nothing new for some time: another server may be the master by then. It
// returns the ID of the last entry.
func follow(ctx context.Context, client engine.Client, key, after string, f func(map[string]string)) (string, error) {
	connection, release := client.Dedicate()
	defer release()
	defer context.AfterFunc(ctx, connection.Close)()
	ask := func(wait time.Duration, command engine.Completed) engine.ValkeyResult {
		ctx, cancel := context.WithTimeout(ctx, wait+answerTime)
		defer cancel()
		return connection.Do(ctx, command)
	}
	// After a loss of data the newest entry is older than the one that was read last.
	newest, err := ask(0, connection.B().Xrevrange().Key(key).End("+").Start("-").Count(1).Build()).AsXRange()
	switch {
	case err != nil:
		return after, err
	case after == "" && len(newest) > 0:
		after = newest[0].ID
	case after == "" || len(newest) == 0 || older(newest[0].ID, after):
		after = "0-0"
	}
	for {
		read := connection.B().Arbitrary("XREAD", "COUNT", mostEntries, "BLOCK", strconv.FormatInt(blockTime.Milliseconds(), 10), "STREAMS").
			Keys(key).Args(after).Blocking()
		streams, err := ask(blockTime, read).AsXRead()
		if engine.IsValkeyNil(err) {
			return after, nil
		}
		if err != nil {
			return after, err
		}
		for _, entry := range streams[key] {
			after = entry.ID
			f(entry.FieldValues)
		}
	}
}

// older reports whether the ID of an entry (milliseconds-number) is before another.
func older(a, b string) bool {
	at, an, errA := entryID(a)
	bt, bn, errB := entryID(b)
	return errors.Join(errA, errB) == nil && (at < bt || at == bt && an < bn)
}

func entryID(id string) (ms, n uint64, err error) {
	before, after, _ := strings.Cut(id, "-")
	ms, err = strconv.ParseUint(before, 10, 64)
	if err == nil && after != "" {
		n, err = strconv.ParseUint(after, 10, 64)
	}
	return ms, n, err
}

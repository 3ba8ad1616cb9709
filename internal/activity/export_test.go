package activity

// SetMaxDays lets a test reach the bound of Daily with few rows.
func (l *SQLiteLog) SetMaxDays(n int) { l.sums.maxDays = n }

// SetMaxNamedRows lets a test reach the bound of the records that Daily reads.
func (l *SQLiteLog) SetMaxNamedRows(n int) { l.sums.maxRows = n }

// Remembers what a user likes in its first run, and recalls it in that and every later one.
package main

import (
	"fmt"
	"log"
	"os"

	"varve"
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

func run(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()

	session, err := store.Session("kitchen", varve.SessionOptions{UserID: "ann"})
	if err != nil {
		return err
	}
	defer session.Close()

	count, err := session.Count(nil)
	if err != nil {
		return err
	}
	if count == 0 { // the first run
		_, err := session.AddBatch([]varve.Entry{
			{Type: "preference", Content: "Tea in the morning, never coffee",
				Tags: []string{"drinks"}, Importance: varve.Importance(0.9)},
			{Type: "finding", Content: "The kettle is broken"},
		})
		if err != nil {
			return err
		}
	}

	for result, err := range session.Find(varve.Query{Question: "what does she drink? tea?", Limit: 1}) {
		if err != nil {
			return err
		}
		fmt.Println("recalled:", result.Entry.Content)
	}
	return nil
}

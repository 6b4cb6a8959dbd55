// A click on a column's head sorts the table: the recipe of mkdocs-material, with tablesort. A table whose first heading
// is empty stays as it is: some of its rows have their full name in a row above.
document$.subscribe(() => {
  document.querySelectorAll("article table:not([class])").forEach((table) => {
    if (table.rows[0].cells[0].textContent.trim()) new Tablesort(table)
  })
})

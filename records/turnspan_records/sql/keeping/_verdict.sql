multiIf({flag} = '1' AND {ended}, 'archived', {flag} = '-1' AND {ended}, 'excluded',
    {flag} NOT IN ('1', '-1') AND {_old}, 'unassessed', '')
